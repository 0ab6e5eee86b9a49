/** Orders that were made, orders that ended, and units that came back. */
import { wallToMonoUs } from '../../facts/timeline.js';
import type { CountedFigure } from './shown-figure.js';

export const ordersMade: CountedFigure = {
  what: 'orders made',
  count: (_facts, { orders }) => orders,
};

export const ordersTimedOut: CountedFigure = {
  what: 'orders that nobody paid and that timed out',
  count: (facts) => (facts.postgres.present ? facts.postgres.value.orders.filter((order) => order.cancelReason === 'PAY_TIMEOUT').length : null),
};

/** Unpaid when the first fault struck, and paid or ended afterwards: what a process alone had known would be lost with it. */
export const ordersCarriedOver: CountedFigure = {
  what: 'orders unpaid when everything was killed that were paid or ended afterwards',
  count: (facts) => {
    if (!facts.postgres.present || !facts.faults.present) return null;
    const struckUs = facts.faults.value.reduce((first, fault) => Math.min(first, fault.injectedUs ?? Infinity), Infinity);
    const isAfter = (wallUs: number | null): boolean => wallUs !== null && wallToMonoUs(facts.run.clock, wallUs) > struckUs;
    return facts.postgres.value.orders.filter((order) => !isAfter(order.createdAtUs) && isAfter(order.paidAtUs ?? order.cancelledAtUs)).length;
  },
};

export const unitsReleased: CountedFigure = {
  what: 'orders that ended and whose reservation was released',
  count: (_facts, { released }) => released,
};

/** More orders than units: each of the rest is a unit that was sold again. */
export const ordersBeyondStock: CountedFigure = {
  what: 'orders for units that had come back',
  count: (_facts, { orders, stock }) => (orders === null ? null : Math.max(0, orders - stock)),
};

/** Who let a unit go may have one again: the rule of the activity was at work. */
export const secondPurchases: CountedFigure = {
  what: 'orders of users who had ended one before',
  count: (facts) => (facts.postgres.present ? facts.postgres.value.orders.filter((order) => order.purchaseNo >= 2).length : null),
};

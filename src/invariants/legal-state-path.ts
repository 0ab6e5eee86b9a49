/**
 * legal-state-path: every order, reservation, token and payment moves only along edges of its state table, in every commit; none is ever deleted; and at
 * the end an order and its reservation do not contradict each other.
 */
import type { Facts } from '../facts/facts.js';
import { commitHistoryOf, type StateStep } from './commit-history.js';
import { ordersById, postgresOf, reservationRows } from './indexes.js';
import type { Invariant } from './invariant.js';
import { isLegalEdge, ORDER_STATES, PAYMENT_STATES, RESERVATION_STATES, stateName, TOKEN_STATES, type StateTable } from './state-tables.js';
import type { Subject } from './story.js';
import { tallyFor, type Tally } from './tally.js';

export const legalStatePath: Invariant = {
  name: 'legal-state-path',
  title: 'Only legal steps',
  whatItMeans: 'Orders, reservations, tokens and payments change their state only in the ways that the business allows, in every single commit.',
  needs: ['history', 'postgres', 'commitLog'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(legalStatePath, facts);
    const history = commitHistoryOf(facts);
    walk(tally, ORDER_STATES, history.orders, (orderId) => ({ orderId }));
    walk(tally, RESERVATION_STATES, history.reservations, (reservationId) => ({ reservationId }));
    walk(tally, TOKEN_STATES, history.tokens, (tokenId) => ({ tokenId }));
    const orderOf = new Map(postgresOf(facts).payments.map((payment) => [payment.paymentId, payment.orderId]));
    walk(tally, PAYMENT_STATES, history.payments, (paymentId) => ({ orderId: orderOf.get(paymentId) ?? null }));
    pairsAtTheEnd(facts, tally);
    endedForTheirTime(facts, tally);
    return tally.verdict();
  },
};

function walk(tally: Tally, table: StateTable, paths: ReadonlyMap<string, readonly StateStep[]>, subjectOf: (id: string) => Subject): void {
  for (const [id, path] of paths) {
    let before: number | null = null;
    for (const step of path) {
      tally.check();
      const problem = stepProblem(tally, table, before, step);
      if (problem !== null) {
        tally.violation({ kind: table.what, id, subject: subjectOf(id), claim: `${table.what} ${id} ${problem} in commit ${step.transaction.lsn}.` });
      }
      before = step.status;
    }
  }
}

function stepProblem(tally: Tally, table: StateTable, before: number | null, step: StateStep): string | null {
  if (step.kind === 'delete') return 'was deleted';
  const name = stateName(table, step.status);
  if (step.kind === 'insert') {
    if (before !== null && !Number.isNaN(before)) return `was inserted again as ${name}`;
    return table.initial.includes(step.status) ? null : `began as ${name}`;
  }
  let from = before;
  if (from === null) {
    // Tokens are seeded before the log begins and start available; anything else that starts with an update has a past that was not seen.
    if (table !== TOKEN_STATES) {
      tally.gap(`the commit log does not begin at the beginning: a ${table.what} first appears as an update`);
      return null;
    }
    from = 0;
  }
  if (from === step.status && table.names[from] !== undefined) return null;
  return isLegalEdge(table, from, step.status) ? null : `went from ${stateName(table, from)} to ${name}`;
}

/** An order may be ended for want of payment only when its own time is over; both moments are PostgreSQL's, so no bound of clocks applies (CASES C14). */
function endedForTheirTime(facts: Facts, tally: Tally): void {
  for (const { orderId, reservationId, cancelReason, cancelledAtUs, expireAtUs } of postgresOf(facts).orders) {
    if (cancelReason !== 'PAY_TIMEOUT' || cancelledAtUs === null) continue;
    tally.check();
    if (cancelledAtUs >= expireAtUs) continue;
    tally.violation({
      kind: 'order', id: orderId, severity: expireAtUs - cancelledAtUs, subject: { orderId, reservationId },
      claim: `Order ${orderId} was ended for want of payment ${String((expireAtUs - cancelledAtUs) / 1000)} ms before its time was over.`,
    });
  }
}

/** In which states a reservation may be while its order is so. */
const RESERVATION_OF_ORDER: Readonly<Record<number, readonly number[]>> = { 10: [10], 20: [10], 30: [10], 40: [40], 50: [40], 60: [30] };

function pairsAtTheEnd(facts: Facts, tally: Tally): void {
  const { orders, reservations } = postgresOf(facts);
  for (const order of orders) {
    tally.check();
    const row = reservationRows(facts).get(order.reservationId)?.[0];
    const agree = row?.orderId === order.orderId && (RESERVATION_OF_ORDER[order.status]?.includes(row.status) ?? false);
    if (agree) continue;
    const reservation = row === undefined ? 'has no row' : `is ${stateName(RESERVATION_STATES, row.status)} with order ${row.orderId ?? 'none'}`;
    tally.violation({
      kind: 'order', id: order.orderId, subject: { orderId: order.orderId, reservationId: order.reservationId },
      claim: `Order ${order.orderId} is ${stateName(ORDER_STATES, order.status)} while its reservation ${order.reservationId} ${reservation}.`,
    });
  }
  for (const row of reservations) {
    tally.check();
    if (row.status !== 10) continue;
    const order = row.orderId === null ? undefined : ordersById(facts).get(row.orderId)?.[0];
    if (order?.reservationId === row.reservationId) continue;
    tally.violation({
      kind: 'reservation', id: row.reservationId, subject: { reservationId: row.reservationId },
      claim: `Reservation ${row.reservationId} is ORDERED and its order ${row.orderId ?? ''} ${order === undefined ? 'does not exist' : `belongs to ${order.reservationId}`}.`,
    });
  }
}

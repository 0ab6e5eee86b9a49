/**
 * one-order-per-user: at no commit, and not at the end, a user holds two. Where the activity lets a user buy again after a cancel, each purchase
 * has its own number and the next begins only after the last ended.
 */
import type { Facts } from '../facts/facts.js';
import { columnOf, visibleChanges } from './commit-history.js';
import { grouped, postgresOf } from './indexes.js';
import { inShort } from './in-short.js';
import type { Invariant } from './invariant.js';
import { orderIsLive, reservationHoldsUnit } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';

export const oneOrderPerUser: Invariant = {
  name: 'one-order-per-user',
  title: 'One order for each user',
  whatItMeans: 'No user ever holds two orders of the activity; buying again is possible only where the rules allow it and after the first order ended.',
  needs: ['history', 'postgres', 'commitLog'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(oneOrderPerUser, facts);
    inSnapshot(facts, tally);
    overCommits(facts, tally);
    return tally.verdict();
  },
};

function inSnapshot(facts: Facts, tally: Tally): void {
  const { orders, reservations } = postgresOf(facts);
  const rebuy = facts.run.rules.rebuyAfterCancel;
  for (const [userId, owned] of grouped(orders, (order) => order.userId)) {
    tally.check();
    const live = owned.filter((order) => orderIsLive(order.status));
    const numbers = new Set(owned.map((order) => order.purchaseNo));
    // The next purchase has the next number: 1, 2, 3 … without a gap.
    const inTurn = numbers.size === owned.length && Math.max(...numbers) === owned.length && Math.min(...numbers) === 1;
    if (rebuy ? live.length <= 1 && inTurn : owned.length <= 1 && inTurn) continue;
    const claim = (rebuy ? live.length : owned.length) <= 1
      ? `User ${userId} has ${String(owned.length)} orders under the purchase numbers ${inShort([...numbers].map(String), 5)}.`
      : `User ${userId} has ${String(owned.length)} orders: ${inShort(owned.map((order) => order.orderId), 3)}.`;
    tally.violation({ kind: 'user', id: userId, severity: owned.length, subject: { userId }, claim });
  }
  const held = reservations.filter((row) => reservationHoldsUnit(row.status, row.orderId));
  for (const [userId, rows] of grouped(held, (row) => row.userId)) {
    tally.check();
    if (rows.length < 2) continue;
    tally.violation({
      kind: 'user', id: userId, severity: rows.length, subject: { userId },
      claim: `User ${userId} holds ${String(rows.length)} reservations: ${inShort(rows.map((row) => row.reservationId), 3)}.`,
    });
  }
}

/** Users with two live orders at a commit, each reported once: the snapshot may show only what was left of it. */
function overCommits(facts: Facts, tally: Tally): void {
  if (!facts.commitLog.present) return;
  const liveOrders = new Map<string, Set<string>>();
  const userOfOrder = new Map<string, string>();
  const reported = new Set(postgresOf(facts).orders.length === 0 ? [] : usersReported(facts));
  for (const transaction of facts.commitLog.value.transactions) {
    const touched = new Set<string>();
    for (const change of visibleChanges(transaction)) {
      if (change.table !== 'orders') continue;
      const orderId = columnOf(change, 'order_id');
      const userId = change.kind === 'delete' ? userOfOrder.get(orderId) : columnOf(change, 'user_id');
      if (userId === undefined) continue;
      userOfOrder.set(orderId, userId);
      const live = liveOrders.get(userId) ?? new Set<string>();
      liveOrders.set(userId, live);
      if (change.kind !== 'delete' && orderIsLive(Number(columnOf(change, 'status')))) live.add(orderId);
      else live.delete(orderId);
      touched.add(userId);
    }
    for (const userId of touched) {
      tally.check();
      const live = liveOrders.get(userId);
      if (live === undefined || live.size < 2 || reported.has(userId)) continue;
      reported.add(userId);
      tally.violation({
        kind: 'user', id: userId, severity: live.size, subject: { userId },
        claim: `After commit ${transaction.lsn} user ${userId} holds ${String(live.size)} orders: ${inShort(live, 3)}.`,
      });
    }
  }
}

/** Already found in the snapshot: not counted twice. */
function usersReported(facts: Facts): string[] {
  const live = postgresOf(facts).orders.filter((order) => orderIsLive(order.status));
  return [...grouped(live, (order) => order.userId)].filter(([, owned]) => owned.length > 1).map(([userId]) => userId);
}

/**
 * What can be different between the three ledgers (Redis, the orders topic, PostgreSQL), as a closed list (paper `004` §12). Equal sums prove
 * nothing, since one unit too many and one too few cancel out; so each difference has a kind and the id that it is about.
 */
export const DIFFERENCE_KINDS = {
  'redis-record-without-message': 'reserved in Redis, no message in the topic, and not in the pending index: nobody would ever send it',
  'pending-entry-missing': 'reserved in Redis with a message in the topic, without a result, and not in the pending index',
  'pending-entry-orphan': 'the pending index names a request that neither Redis nor PostgreSQL knows',
  'message-without-row': 'the message was consumed, and PostgreSQL has neither an Inbox row nor a reservation for it',
  'row-without-message': 'PostgreSQL has an order or a refusal whose message is not in the topic',
  'order-without-redis-record': 'a reservation holds a unit in PostgreSQL and Redis has no record of its request',
  'ended-row-without-redis-record': 'a reservation has ended in PostgreSQL and Redis has no record of its request',
  'redis-record-of-another-reservation': 'Redis tells an ended reservation of a request that PostgreSQL knows by another one',
  'redis-order-without-row': 'Redis says ordered and PostgreSQL does not know the reservation',
  'ids-disagree': 'Redis, the topic and PostgreSQL know one reservation by different requests, users or messages; nothing repairs this by itself',
  'redis-state-behind': 'Redis tells an older state than PostgreSQL',
  'redis-record-damaged': 'a record in Redis that cannot be read',
  'released-in-pg-held-in-redis': 'the unit was given back in PostgreSQL and is still taken in Redis',
  'held-in-pg-returned-in-redis': 'the unit is held in PostgreSQL and was given back in Redis',
  'user-mark-missing': 'a reservation holds a unit in Redis and its user has no mark: he could buy again',
  'user-mark-orphan': 'a mark in Redis that belongs to no reservation: the user could never buy',
  'user-mark-left': 'a reservation has ended, its user may buy again, and his mark in Redis still names it: he could never',
  'stock-counter-off': 'stock and records in Redis do not add up to the planned stock',
  'inventory-counter-off': 'stock and reservations in PostgreSQL do not add up; nothing repairs this by itself',
} as const;
export type DifferenceKind = keyof typeof DIFFERENCE_KINDS;
export const DIFFERENCE_KIND_NAMES = Object.keys(DIFFERENCE_KINDS) as readonly DifferenceKind[];

export function isDifferenceKind(text: string): text is DifferenceKind {
  return Object.hasOwn(DIFFERENCE_KINDS, text);
}

/** Life of an adjustment: written in PostgreSQL before it is made in Redis. VOID: the live system had moved on, nothing was changed. */
export const AdjustmentStatus = { PLANNED: 0, APPLIED: 10, VOID: 20 } as const;
export type AdjustmentStatus = (typeof AdjustmentStatus)[keyof typeof AdjustmentStatus];

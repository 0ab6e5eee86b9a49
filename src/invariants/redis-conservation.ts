/**
 * redis-conservation: when all is drained, the stock in Redis is what the ledger leaves over: total − held − withdrawn − what waits for a human. After a
 * proven loss the mirror has to equal what PostgreSQL has available. And each record and each user's mark agrees with the ledger on its own, marks in both
 * directions: who has had his turn is marked, and whoever is marked has had it.
 *
 * Before that the two may differ honestly: a reservation on its way is out of Redis and not yet in the ledger.
 */
import type { Facts } from '../facts/facts.js';
import type { ReservationRow } from '../facts/store-facts.js';
import { provenLosses } from './excuses.js';
import { ordersByReservation, postgresOf, redisByReservation, redisOf } from './indexes.js';
import type { Invariant } from './invariant.js';
import { endOfReservation, unitIsBack, withdrawnReservations } from './reservation-end.js';
import { tallyFor, type Tally } from './tally.js';
import { heldBySnapshot } from './units-replay.js';

export const redisConservation: Invariant = {
  name: 'redis-conservation',
  title: 'Redis agrees with the ledger',
  whatItMeans: 'Once nothing is on its way, the stock in Redis equals the units that nobody holds: none was leaked and none was given back twice.',
  needs: ['history', 'redis', 'postgres', 'settle'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(redisConservation, facts);
    if (facts.settle.present && facts.settle.value.drainedUs === null) tally.gap(`not drained: ${facts.settle.value.open.join('; ') || 'no reason given'}`);
    else if (facts.settle.present && facts.redis.present && facts.postgres.present) compare(facts, tally);
    return tally.verdict();
  },
};

function compare(facts: Facts, tally: Tally): void {
  const redis = redisOf(facts);
  tally.check();
  if (redis.stock === null) {
    tally.violation({ kind: 'account', id: 'redis stock', severity: facts.run.stock, subject: {}, claim: 'The stock key of Redis is gone.' });
    return;
  }
  const held = heldBySnapshot(facts);
  const afterLoss = provenLosses(facts).length > 0;
  const waiting = waitingForHumans(facts);
  const expected = (afterLoss ? availableInPostgres(facts) : facts.run.stock - held.size - withdrawnReservations(facts).size) - waiting.size;
  if (waiting.size > 0) tally.remark(`${String(waiting.size)} units wait for a human`);
  if (afterLoss) tally.remark('after a proven loss compared with what PostgreSQL has available');
  // A rebuild gives its units back in batches; what it still keeps is in no client's hand.
  const left = redis.stock + Number(redis.meta['heldBack'] ?? '0');
  if (left !== expected) {
    const suspect = firstSuspect(facts, held);
    tally.violation({
      kind: 'account', id: 'redis stock', severity: Math.abs(left - expected), subject: { reservationId: suspect },
      claim: `Redis has ${String(left)} left, the ledger leaves ${String(expected)}: ${left > expected ? 'units were given back that are held' : 'units have leaked'}.`,
    });
  }
  eachRecord(facts, held, waiting, tally);
  marks(facts, held, waiting, tally);
}

/** Reservations that keep their unit in Redis while nobody knows what becomes of them: MANUAL_REQUIRED without an order, or an open dead letter. */
function waitingForHumans(facts: Facts): ReadonlySet<string> {
  const waiting = redisOf(facts).records.filter((record) => {
    const { end } = endOfReservation(facts, record.reservationId);
    return !record.unitReturned && (end === 'manual' || end === 'dead-letter');
  });
  return new Set(waiting.map((record) => record.reservationId));
}

/**
 * Two errors can cancel in the sum: each record has to agree with the ledger on its own, and each durable reservation has to have one. After a loss as well: a rebuild
 * writes a record for every durable reservation, and what is lost for good left neither a record nor a row to be compared.
 */
function eachRecord(facts: Facts, held: ReadonlySet<string>, waiting: ReadonlySet<string>, tally: Tally): void {
  const violated = (reservationId: string, claim: string): void => {
    tally.violation({ kind: 'reservation', id: reservationId, subject: { reservationId }, claim: `Reservation ${reservationId} ${claim}.` });
  };
  for (const record of redisOf(facts).records) {
    tally.check();
    const givenBack = record.state === 'R' || record.state === 'L';
    const order = ordersByReservation(facts).get(record.reservationId)?.[0];
    if (givenBack && held.has(record.reservationId)) violated(record.reservationId, `is ended in Redis (${record.state}) and still holds a unit in PostgreSQL`);
    else if (!givenBack && !held.has(record.reservationId) && !waiting.has(record.reservationId)) violated(record.reservationId, `keeps its unit in Redis (${record.state}) and holds none in PostgreSQL`);
    else if (record.orderId !== null && order?.orderId !== record.orderId) violated(record.reservationId, `has ${order === undefined ? 'no order' : `order ${order.orderId}`}, Redis says ${record.orderId}`);
    else if (record.unitReturned && !unitIsBack(facts, record.reservationId)) violated(record.reservationId, 'gave its unit back in Redis, and by the ledger it is not on sale');
    else if (givenBack && !record.unitReturned && unitIsBack(facts, record.reservationId)) violated(record.reservationId, `is ended in Redis (${record.state}) and never gave its unit back`);
  }
  // Nothing expires before the sale has ended: a request that Redis has forgotten could buy again (CASES C9).
  for (const row of postgresOf(facts).reservations) {
    tally.check();
    if (!redisByReservation(facts).has(row.reservationId)) violated(row.reservationId, 'is in PostgreSQL and Redis has forgotten it');
  }
}

/**
 * The mark of a user who has one keeps him from a second. It stays for good where the activity lets nobody buy again, and goes otherwise only with his order. One
 * that outlives its reservation is as wrong as one that is missing: its user hears USER_HAS_ONE for ever, and has none.
 */
function marks(facts: Facts, held: ReadonlySet<string>, waiting: ReadonlySet<string>, tally: Tally): void {
  const marked = new Map(redisOf(facts).users.map((mark) => [mark.userId, mark.requestId]));
  const { reservations } = postgresOf(facts);
  const stays = (row: ReservationRow): boolean => held.has(row.reservationId) || (row.orderId !== null && !facts.run.rules.rebuyAfterCancel);
  const bound = [...reservations.filter(stays), ...redisOf(facts).records.filter((record) => waiting.has(record.reservationId))];
  for (const { userId, requestId: owner, reservationId } of bound) {
    tally.check();
    const requestId = marked.get(userId);
    if (requestId === owner) continue;
    tally.violation({
      kind: 'user', id: userId, subject: { userId, reservationId },
      claim: `User ${userId} has had his turn by request ${owner}, reservation ${reservationId}, and ${requestId === undefined ? 'Redis has no mark of him' : `his mark in Redis names request ${requestId}`}.`,
    });
  }
  const hadTheirTurn = new Set(bound.map(({ userId }) => userId));
  for (const [userId, requestId] of marked) {
    tally.check();
    if (hadTheirTurn.has(userId)) continue;
    tally.violation({
      kind: 'user', id: userId, subject: { userId, requestId },
      claim: `User ${userId} is marked in Redis by request ${requestId}, and has no reservation that keeps him from another: he would be refused for ever.`,
    });
  }
}

function availableInPostgres(facts: Facts): number {
  const { tokens, inventory } = postgresOf(facts);
  if (facts.run.strategies.allocator === 'token') return tokens.filter((token) => token.status === 0).length;
  return inventory.reduce((sum, row) => sum + row.available, 0);
}

/** A reservation that only one of the two knows: the likeliest cause of a difference. */
function firstSuspect(facts: Facts, held: ReadonlySet<string>): string | null {
  const inRedis = redisByReservation(facts);
  for (const reservationId of held) if (!inRedis.has(reservationId)) return reservationId;
  for (const record of redisOf(facts).records) {
    if (held.has(record.reservationId) === (record.state === 'R' || record.state === 'L')) return record.reservationId;
  }
  return null;
}

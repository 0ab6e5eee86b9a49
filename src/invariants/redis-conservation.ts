/**
 * redis-conservation: when all is drained, the stock in Redis is what the ledger leaves over: total − held. After a proven loss the mirror has to
 * equal what PostgreSQL has available.
 *
 * Before that the two may differ honestly: a reservation on its way is out of Redis and not yet in the ledger.
 */
import type { Facts } from '../facts/facts.js';
import { provenLosses } from './excuses.js';
import { ordersByReservation, postgresOf, redisByReservation, redisOf } from './indexes.js';
import type { Invariant } from './invariant.js';
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
  const expected = afterLoss ? availableInPostgres(facts) : facts.run.stock - held.size - withdrawn(facts);
  if (afterLoss) tally.remark('after a proven loss compared with what PostgreSQL has available');
  if (redis.stock !== expected) {
    const suspect = firstSuspect(facts, held);
    tally.violation({
      kind: 'account', id: 'redis stock', severity: Math.abs(redis.stock - expected), subject: { reservationId: suspect },
      claim: `Redis has ${String(redis.stock)} left, the ledger leaves ${String(expected)}: ${redis.stock > expected ? 'units were given back that are held' : 'units have leaked'}.`,
    });
  }
  if (!afterLoss) eachRecord(facts, held, tally);
}

/** Two errors can cancel in the sum: each record has to agree with the ledger on its own, and each durable reservation has to have one. */
function eachRecord(facts: Facts, held: ReadonlySet<string>, tally: Tally): void {
  const violated = (reservationId: string, claim: string): void => {
    tally.violation({ kind: 'reservation', id: reservationId, subject: { reservationId }, claim: `Reservation ${reservationId} ${claim}.` });
  };
  for (const record of redisOf(facts).records) {
    tally.check();
    const givenBack = record.state === 'R' || record.state === 'L';
    const order = ordersByReservation(facts).get(record.reservationId)?.[0];
    if (givenBack && held.has(record.reservationId)) violated(record.reservationId, `is ended in Redis (${record.state}) and still holds a unit in PostgreSQL`);
    else if (!givenBack && !held.has(record.reservationId)) violated(record.reservationId, `keeps its unit in Redis (${record.state}) and holds none in PostgreSQL`);
    else if (record.orderId !== null && order?.orderId !== record.orderId) violated(record.reservationId, `has ${order === undefined ? 'no order' : `order ${order.orderId}`}, Redis says ${record.orderId}`);
  }
  // Nothing expires before the sale has ended: a request that Redis has forgotten could buy again (CASES C9).
  for (const row of postgresOf(facts).reservations) {
    tally.check();
    if (!redisByReservation(facts).has(row.reservationId)) violated(row.reservationId, 'is in PostgreSQL and Redis has forgotten it');
  }
}

function withdrawn(facts: Facts): number {
  const { tokens, reservations, ledger } = postgresOf(facts);
  if (facts.run.strategies.allocator === 'token') return tokens.filter((token) => token.status === 30).length;
  if (facts.run.rules.restockOnCancel) return 0;
  const givenBack = new Set(ledger.filter((entry) => entry.type === 20).map((entry) => entry.reservationId));
  return reservations.filter((row) => row.status === 40 && !givenBack.has(row.reservationId)).length;
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

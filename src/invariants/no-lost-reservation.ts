/**
 * no-lost-reservation: everything that was ever accepted ends. Of the union of what clients were told, what Redis recorded and what the topic
 * holds, each reservation has an order, a durable refusal or a release. One that is left to a human at the end (MANUAL_REQUIRED, or a dead letter that nobody
 * has worked off) has none of them: its buyer waits for an answer that nobody is about to give, so it counts as lost until somebody has decided. Only a message that
 * no client and no Redis knows of, such as a forged one, may rest among the dead letters: nobody waits for it.
 *
 * Redis saying "ordered", an Inbox row or a reservation row do not count for an order: the order itself has to be there.
 */
import type { Facts } from '../facts/facts.js';
import { acceptancesByReservation, acceptancesOf } from './acceptances.js';
import { isExcused } from './excuses.js';
import { kafkaOf, ordersByRequest, ordersLag, redisByRequest, redisByReservation, redisOf, topicByReservation } from './indexes.js';
import type { Invariant } from './invariant.js';
import { endOfRequest, endOfReservation, hasEnded, type ReservationEnd } from './reservation-end.js';
import { tallyFor, type Tally } from './tally.js';

export const noLostReservation: Invariant = {
  name: 'no-lost-reservation',
  title: 'Nobody is forgotten',
  whatItMeans: 'Every reservation that a client, Redis or the topic knows of ends in an order, in a durable refusal or in a release; none is left waiting for a human.',
  needs: ['history', 'redis', 'kafka', 'postgres', 'settle'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(noLostReservation, facts);
    if (!facts.postgres.present) return tally.verdict();
    const told = acceptancesByReservation(facts);
    let strangers = 0;
    for (const reservationId of new Set([...told.keys(), ...redisByReservation(facts).keys(), ...topicByReservation(facts).keys()])) {
      tally.check();
      const end = endOfReservation(facts, reservationId);
      if (hasEnded(end)) continue;
      if (end.end === 'dead-letter' && !told.has(reservationId) && !redisByReservation(facts).has(reservationId)) {
        strangers += 1;
        continue;
      }
      if (end.end === 'none' && isExcused(facts, reservationId, told.get(reservationId) ?? [])) tally.excuse();
      else judgeLost(facts, reservationId, end, tally);
    }
    if (strangers > 0) tally.remark(`${String(strangers)} messages that no buyer waits for rest among the dead letters`);
    unnamed(facts, tally);
    return tally.verdict();
  },
};

function judgeLost(facts: Facts, reservationId: string, end: ReservationEnd, tally: Tally): void {
  const waiting = onItsWay(facts, reservationId, end);
  if (waiting !== null) {
    tally.gap(waiting);
    return;
  }
  const known = [
    ...(acceptancesByReservation(facts).has(reservationId) ? ['its client was told so'] : []),
    ...(redisByReservation(facts).has(reservationId) ? ['Redis holds its record'] : []),
    ...(topicByReservation(facts).has(reservationId) ? ['the topic holds its message'] : []),
  ];
  const why = end.end === 'order-gone' || end.end === 'unfinished' ? end.why : WHY[end.end] ?? 'PostgreSQL knows no end of it';
  tally.violation({
    kind: 'reservation', id: reservationId, severity: known.length, subject: { reservationId },
    claim: `Reservation ${reservationId} was made (${known.join(', ')}) and is lost: ${why}.`,
  });
}

const WHY: Readonly<Partial<Record<ReservationEnd['end'], string>>> = {
  manual: 'it waits for a human (MANUAL_REQUIRED), and nobody has decided',
  'dead-letter': 'its message is a dead letter that nobody has worked off',
};

/** Why it may still end by itself; null: it will not. */
function onItsWay(facts: Facts, reservationId: string, { end }: ReservationEnd): string | null {
  if (end === 'order-gone' || end === 'manual') return null;
  return end === 'dead-letter' ? unreadLetters(facts) : stillOnItsWay(facts, reservationId, end === 'unfinished');
}

/** The undertaker ends the reservation of a letter in the moment in which it keeps it: one that it has read and left open stays open. */
function unreadLetters(facts: Facts): string | null {
  if (!facts.settle.present) return 'some reservations have no end, and nobody knows whether the system had finished';
  const unread = kafkaOf(facts).deadLettersBounds.some((bounds) => BigInt(bounds.endOffset) > BigInt(bounds.committedOffset ?? bounds.beginOffset));
  return facts.settle.value.drainedUs === null && unread ? 'not drained: some dead letters have not been read' : null;
}

/**
 * Not drained inside the bound is no proof of a loss while the queue before it still moves: a slow machine loses nothing. With the consumer caught
 * up and everything healed for the whole bound, whoever should have finished it did not.
 */
function stillOnItsWay(facts: Facts, reservationId: string, begun: boolean): string | null {
  if (!facts.settle.present) return 'some reservations have no end, and nobody knows whether the system had finished';
  if (facts.settle.value.drainedUs !== null) return null;
  const committed = new Map(kafkaOf(facts).ordersBounds.map((bounds) => [bounds.partition, BigInt(bounds.committedOffset ?? bounds.beginOffset)]));
  const messages = topicByReservation(facts).get(reservationId) ?? [];
  const unread = messages.some((message) => BigInt(message.offset) >= (committed.get(message.partition) ?? 0n));
  // A row in state 0 or 30 was begun by somebody who may be slow as well.
  const waits = begun || (messages.length > 0 ? unread : ordersLag(facts) > 0n);
  return waits ? `not drained inside ${String(facts.settle.value.boundMs)} ms: some reservations are still on their way` : null;
}

/** Acceptances that named no reservation are looked up by their request. */
function unnamed(facts: Facts, tally: Tally): void {
  const seen = new Set<string>();
  for (const told of acceptancesOf(facts)) {
    if (told.reservationId !== null || seen.has(told.requestId)) continue;
    seen.add(told.requestId);
    tally.check();
    // With a record in Redis it was judged under its reservation id already.
    if (ordersByRequest(facts).has(told.requestId) || redisByRequest(facts).has(told.requestId)) continue;
    if (hasEnded(endOfRequest(facts, told.requestId))) continue;
    tally.violation({
      kind: 'request', id: told.requestId, subject: { requestId: told.requestId },
      claim: `Request ${told.requestId} was accepted (${told.code ?? 'unreadable answer'}) and no store knows it.`,
    });
  }
  if (redisOf(facts).records.length === 0 && facts.redis.present) tally.remark('Redis holds no record at all');
}

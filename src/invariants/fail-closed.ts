/**
 * fail-closed: while Redis is away, or the broker with a breaker before it, no new request is accepted: neither told so nor reserved. After a failover Redis is away
 * until it was rebuilt: the promoted one answers, and lacks what was lost. Repeats of what had been accepted may hear of it from memory, and a call that was under
 * way when the store went may still come back for the in-flight bound. An outage in which nobody asked shows nothing.
 */
import type { Facts } from '../facts/facts.js';
import { wallToMonoUs } from '../facts/timeline.js';
import { acceptancesOf, type Acceptance } from './acceptances.js';
import { kafkaOf, redisByRequest, redisOf, topicByReservation } from './indexes.js';
import type { Invariant } from './invariant.js';
import { provenOutages, type Outage } from './outages.js';
import { reservedAt } from './reserved-at.js';
import { tallyFor, type Tally } from './tally.js';

export const failClosed: Invariant = {
  name: 'fail-closed',
  title: 'Without its guard the door is shut',
  whatItMeans: 'While the store that guards the stock, or the queue behind it, is gone, or another one stands in its place that nobody has checked yet, nobody new is let in.',
  needs: ['history', 'redis', 'kafka', 'faults'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(failClosed, facts);
    const { inFlightBoundMs, breakerOpensWithinMs } = facts.run.failClosed;
    const outages = provenOutages(facts).filter((outage) => outage.store === 'redis' || breakerOpensWithinMs !== null);
    const first = firstAnswers(facts);
    for (const outage of outages) {
      const graceUs = (outage.store === 'redis' ? inFlightBoundMs : Math.max(inFlightBoundMs, breakerOpensWithinMs ?? 0)) * 1_000;
      judgeOutage(facts, outage, outage.fromUs + graceUs, first, tally);
    }
    if (outages.length === 0) tally.notAsked('nothing took a guard away');
    else tally.remark(`${String(outages.length)} ${outages.length === 1 ? 'outage' : 'outages'}`);
    return tally.verdict();
  },
};

/** The first acceptance that each request heard: everything later speaks of something known. */
function firstAnswers(facts: Facts): readonly Acceptance[] {
  const first = new Map<number, Acceptance>();
  for (const told of acceptancesOf(facts)) {
    const known = first.get(told.request);
    if (known === undefined || told.answeredUs < known.answeredUs) first.set(told.request, told);
  }
  return [...first.values()];
}

/** When the gateway began to reserve, monotonic, by whichever store remembers it: one time, or the two ends of a range; empty: none does. */
function reservedAtUs(facts: Facts, told: Acceptance): readonly number[] {
  const record = redisByRequest(facts).get(told.requestId)?.[0] ?? (told.reservationId === null ? undefined : topicByReservation(facts).get(told.reservationId)?.[0]);
  return record === undefined ? [] : endsUs(facts, record.reservedAtMs);
}

function endsUs(facts: Facts, stampedMs: number): readonly number[] {
  const { earliestMs, latestMs } = reservedAt(facts, stampedMs);
  return [earliestMs, latestMs].map((ms) => wallToMonoUs(facts.run.clock, ms * 1_000));
}

function judgeOutage(facts: Facts, outage: Outage, closedFromUs: number, first: readonly Acceptance[], tally: Tally): void {
  const { boundUs } = facts.run.clock;
  const inside = (us: number): boolean => us > closedFromUs + boundUs && us < outage.toUs - boundUs;
  const asked = askedWithin(facts, inside);
  if (asked === 0) {
    tally.gap(`nobody asked and was answered while the door had to be shut because of ${outage.fault.id}, which took ${outage.store} away for ${seconds(outage.toUs - outage.fromUs)}; it may stay open for ${seconds(closedFromUs - outage.fromUs)} of that`);
  }
  tally.check(asked);
  const reported = new Set<string>();
  for (const told of first) {
    if (!inside(told.askedUs) || !inside(told.answeredUs)) continue;
    // Reserved before, and heard of only now: nothing new was let in.
    if (!reservedAtUs(facts, told).every(inside)) continue;
    reported.add(told.requestId);
    tally.violation({
      kind: 'request', id: told.requestId, subject: { requestId: told.requestId, reservationId: told.reservationId },
      claim: `Request ${told.requestId} was sent ${seconds(told.askedUs - outage.fromUs)} after ${outage.fault.id} took ${outage.store} away and was accepted (${told.code ?? 'unreadable answer'}) before it came back.`,
    });
  }
  if (outage.couldReserve) judgeReservations(facts, outage, inside, reported, tally);
}

/** Arrivals that were sent and answered while the door had to be shut: each of them could have been let in. */
function askedWithin(facts: Facts, inside: (us: number) => boolean): number {
  if (!facts.history.present) return 0;
  const { sentUs, answeredUs, length } = facts.history.value.columns;
  let asked = 0;
  for (let index = 0; index < length; index += 1) if (inside(sentUs[index] ?? NaN) && inside(answeredUs[index] ?? NaN)) asked += 1;
  return asked;
}

/**
 * Whatever its client heard of it and when: a reservation that should have been kept out is in the topic sooner or later, or in Redis. One that was stamped right
 * before Redis was rebuilt may have been made right after it.
 */
function judgeReservations(facts: Facts, outage: Outage, inside: (us: number) => boolean, reported: Set<string>, tally: Tally): void {
  const marginUs = outage.store === 'redis' ? facts.run.failClosed.inFlightBoundMs * 1_000 : 0;
  for (const { requestId, reservationId, reservedAtMs } of [...kafkaOf(facts).orders, ...redisOf(facts).records]) {
    const ends = endsUs(facts, reservedAtMs);
    const [reservedUs = NaN] = ends;
    if (!ends.every((us) => inside(us) && inside(us + marginUs)) || reported.has(requestId)) continue;
    tally.check();
    reported.add(requestId);
    tally.violation({
      kind: 'reservation', id: reservationId, subject: { reservationId },
      claim: `Reservation ${reservationId} was made ${seconds(reservedUs - outage.fromUs)} after ${outage.fault.id} took ${outage.store === 'redis' ? 'Redis' : 'the broker'} away.`,
    });
  }
}

function seconds(us: number): string {
  return `${(us / 1_000_000).toFixed(2)} s`;
}

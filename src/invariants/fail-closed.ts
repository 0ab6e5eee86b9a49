/**
 * fail-closed: while Redis is away, or the broker with a breaker before it, no new request is accepted: neither told so nor reserved. Repeats of what had been
 * accepted may hear of it from memory, and a call that was under way when the store went may still come back for the in-flight bound.
 */
import type { Facts } from '../facts/facts.js';
import { wallToMonoUs } from '../facts/timeline.js';
import { acceptancesOf, type Acceptance } from './acceptances.js';
import { kafkaOf, redisByRequest, topicByReservation } from './indexes.js';
import type { Invariant } from './invariant.js';
import { provenOutages, type Outage } from './outages.js';
import { reservedAt } from './reserved-at.js';
import { tallyFor, type Tally } from './tally.js';

export const failClosed: Invariant = {
  name: 'fail-closed',
  title: 'Without its guard the door is shut',
  whatItMeans: 'While the store that guards the stock, or the queue behind it, is gone, nobody new is let in.',
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
  for (const told of first) {
    tally.check();
    if (!inside(told.askedUs) || !inside(told.answeredUs)) continue;
    // Reserved before, and heard of only now: nothing new was let in.
    if (!reservedAtUs(facts, told).every(inside)) continue;
    tally.violation({
      kind: 'request', id: told.requestId, subject: { requestId: told.requestId, reservationId: told.reservationId },
      claim: `Request ${told.requestId} was sent ${seconds(told.askedUs - outage.fromUs)} after ${outage.fault.id} took ${outage.store} away and was accepted (${told.code ?? 'unreadable answer'}) before it came back.`,
    });
  }
  if (outage.store === 'redis') return;
  // Nobody may have heard of it: a reservation that the breaker should have kept out is in the topic sooner or later.
  for (const record of kafkaOf(facts).orders) {
    tally.check();
    const ends = endsUs(facts, record.reservedAtMs);
    const [reservedUs = NaN] = ends;
    if (!ends.every(inside) || first.some((told) => told.requestId === record.requestId)) continue;
    tally.violation({
      kind: 'reservation', id: record.reservationId, subject: { reservationId: record.reservationId },
      claim: `Reservation ${record.reservationId} was made ${seconds(reservedUs - outage.fromUs)} after ${outage.fault.id} took the broker away.`,
    });
  }
}

function seconds(us: number): string {
  return `${(us / 1_000_000).toFixed(2)} s`;
}

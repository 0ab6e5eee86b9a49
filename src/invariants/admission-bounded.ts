/**
 * admission-bounded: no reservation is made while the oldest message that nobody has worked off is older than the limit, plus one control period that the system
 * may take to notice (paper `004` §5: lag is a time, not a count).
 *
 * The age is computed from the topic and from PostgreSQL, not from what the system measured: a message waits from its LogAppendTime until its Inbox row is
 * committed, or until it becomes a dead letter.
 */
import type { Facts } from '../facts/facts.js';
import { columnOf } from './commit-history.js';
import { kafkaOf, placeOf, redisOf } from './indexes.js';
import type { Invariant } from './invariant.js';
import { reservedAt } from './reserved-at.js';
import { tallyFor } from './tally.js';

export const admissionBounded: Invariant = {
  name: 'admission-bounded',
  title: 'No queue grows old',
  whatItMeans: 'When messages wait for longer than the promised bound, nobody new is let into the queue.',
  needs: ['history', 'redis', 'kafka', 'commitLog'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(admissionBounded, facts);
    const bounds = facts.run.admission;
    if (bounds === null) {
      tally.notAsked('the run does not bound its admission by age');
      return tally.verdict();
    }
    const slackMs = facts.run.clock.boundUs / 1_000;
    const mostMs = bounds.maxOldestAgeMs + bounds.controlPeriodMs + slackMs;
    const { earliestMs, latestMs } = reservedAt(facts, 0);
    if (earliestMs !== latestMs) {
      tally.gap('the clocks of the gateways differ, so that nobody can say when a reservation was made');
      return tally.verdict();
    }
    const waits = waitsOf(facts);
    let oldest = 0;
    let oldestSeenMs = 0;
    for (const { reservationId, atMs } of reservationsByTime(facts)) {
      tally.check();
      // Reservations come in order of time: what was worked off before one is worked off before all later ones.
      while (oldest < waits.length && (waits[oldest]?.untilMs ?? 0) <= atMs) oldest += 1;
      const wait = waits[oldest];
      if (wait === undefined || wait.fromMs >= atMs) continue;
      oldestSeenMs = Math.max(oldestSeenMs, atMs - wait.fromMs);
      if (atMs - wait.fromMs <= mostMs) continue;
      tally.violation({
        kind: 'reservation', id: reservationId, severity: Math.round(atMs - wait.fromMs), subject: { reservationId },
        claim: `Reservation ${reservationId} was made while message ${wait.messageId} had waited for ${String(Math.round(atMs - wait.fromMs))} ms; admission closes at ${String(bounds.maxOldestAgeMs)} ms and has ${String(bounds.controlPeriodMs)} ms to notice.`,
      });
    }
    tally.remark(`the oldest message that anybody was let in behind had waited for ${String(Math.round(oldestSeenMs))} ms`);
    return tally.verdict();
  },
};

interface Wait {
  readonly messageId: string;
  readonly fromMs: number;
  /** Infinity: never worked off. */
  readonly untilMs: number;
}

/** One wait per message id, from its first copy on, oldest first. */
function waitsOf(facts: Facts): readonly Wait[] {
  const doneMs = new Map<string, number>();
  if (facts.commitLog.present) {
    for (const transaction of facts.commitLog.value.transactions) {
      for (const change of transaction.changes) {
        if (change.table !== 'consumer_inbox' || change.kind !== 'insert' || change.row['consumer_group'] !== facts.run.namespace.ordersGroup) continue;
        doneMs.set(columnOf(change, 'message_id'), transaction.committedAtUs / 1_000);
      }
    }
  }
  const { orders, deadLetters } = kafkaOf(facts);
  const deadMs = new Map(deadLetters.map((letter) => [placeOf(letter.originTopic, letter.originPartition, letter.originOffset), letter.appendedAtMs]));
  const first = new Map<string, Wait>();
  for (const { messageId, partition, offset, appendedAtMs } of orders) {
    const untilMs = doneMs.get(messageId) ?? deadMs.get(placeOf(facts.run.namespace.ordersTopic, partition, offset)) ?? Infinity;
    const known = first.get(messageId);
    if (known === undefined || appendedAtMs < known.fromMs) first.set(messageId, { messageId, fromMs: appendedAtMs, untilMs });
  }
  return [...first.values()].sort((left, right) => left.fromMs - right.fromMs);
}

/** Everything that was ever reserved, in Redis or in the topic, by the time the gateway stamped on it, put right where its clock was known to be off. */
function reservationsByTime(facts: Facts): readonly { readonly reservationId: string; readonly atMs: number }[] {
  const times = new Map<string, number>();
  for (const record of [...redisOf(facts).records, ...kafkaOf(facts).orders]) times.set(record.reservationId, reservedAt(facts, record.reservedAtMs).earliestMs);
  return [...times].map(([reservationId, atMs]) => ({ reservationId, atMs })).sort((left, right) => left.atMs - right.atMs);
}

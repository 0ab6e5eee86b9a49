/**
 * dead-letters-accounted: what could not be worked off is written down with its cause, its attempts and its place, and nothing vanishes: every message below the
 * committed offset has an Inbox row or a dead letter, every dead letter that the undertaker has read stands in the table, and each one's reservation ends or
 * is on the list of open letters (paper `000` §7.4; CASES C22).
 */
import type { Facts } from '../facts/facts.js';
import type { DeadLetterRecord, DeadLetterRow } from '../facts/store-facts.js';
import { inboxRows } from './inbox-rows.js';
import { deadLetterPlaces, grouped, kafkaOf, ordersTopicIsWhole, placeOf, postgresOf } from './indexes.js';
import type { Invariant } from './invariant.js';
import { rememberedPerFacts } from './remembered.js';
import { endOfReservation, isAccountedFor } from './reservation-end.js';
import { tallyFor, type Tally } from './tally.js';

export const deadLettersAccounted: Invariant = {
  name: 'dead-letters-accounted',
  title: 'No message vanishes',
  whatItMeans: 'Every message that could not be worked off stands somewhere with its cause and its origin, and what it was about has an end or waits for a human.',
  needs: ['history', 'kafka', 'postgres', 'settle'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(deadLettersAccounted, facts);
    if (!facts.kafka.present || !facts.postgres.present) return tally.verdict();
    for (const letter of kafkaOf(facts).deadLetters) eachRecord(facts, letter, tally);
    const inTopic = new Map(kafkaOf(facts).deadLetters.map((letter) => [placeOfLetter(letter), letter]));
    for (const row of postgresOf(facts).deadLetters) eachRow(facts, row, inTopic, tally);
    passedOver(facts, tally);
    openOnes(facts, tally);
    return tally.verdict();
  },
};

const OPEN = 0;

function placeOfLetter(letter: DeadLetterRecord | DeadLetterRow): string {
  return placeOf(letter.originTopic, letter.originPartition, letter.originOffset);
}

function violate(tally: Tally, letter: DeadLetterRecord | DeadLetterRow, claim: string): void {
  const { messageId, reservationId } = letter;
  tally.violation({ kind: 'message', id: messageId ?? placeOfLetter(letter), subject: { messageId, reservationId }, claim: `The dead letter of ${placeOfLetter(letter)} ${claim}.` });
}

function storyProblem(facts: Facts, letter: DeadLetterRecord | DeadLetterRow): string | null {
  if (letter.cause === '') return 'has no cause';
  if (letter.attempts < 1) return 'was given up on without a try';
  const { ordersTopic, eventsTopic, closesTopic } = facts.run.namespace;
  const { ordersBounds, eventsBounds, closesBounds } = kafkaOf(facts);
  const bounds = new Map([[ordersTopic, ordersBounds], [eventsTopic, eventsBounds], [closesTopic, closesBounds]]).get(letter.originTopic);
  if (bounds === undefined) return `names the topic ${letter.originTopic}, which is none of the run`;
  const partition = bounds.find((candidate) => candidate.partition === letter.originPartition);
  if (partition === undefined || BigInt(letter.originOffset) >= BigInt(partition.endOffset)) return 'names a place that the topic does not have';
  return letter.originTopic !== ordersTopic || !ordersTopicIsWhole(facts) || occupiedPlaces(facts).has(placeOfLetter(letter)) ? null : 'names a place where nothing lies';
}

const occupiedPlaces: (facts: Facts) => ReadonlySet<string> = rememberedPerFacts((facts) => {
  const { orders, malformed } = kafkaOf(facts);
  return new Set([
    ...orders.map((record) => placeOf(facts.run.namespace.ordersTopic, record.partition, record.offset)), ...malformed.map((record) => placeOf(record.topic, record.partition, record.offset)),
  ]);
});

function eachRecord(facts: Facts, letter: DeadLetterRecord, tally: Tally): void {
  tally.check();
  const problem = storyProblem(facts, letter);
  if (problem !== null) violate(tally, letter, problem);
  const original = kafkaOf(facts).orders.find((record) =>
    letter.originTopic === facts.run.namespace.ordersTopic && record.partition === letter.originPartition && record.offset === letter.originOffset);
  if (original !== undefined && letter.messageId !== null && letter.messageId !== original.messageId) violate(tally, letter, `speaks of message ${letter.messageId}, there lies ${original.messageId}`);
  if (original !== undefined && letter.reservationId !== null && letter.reservationId !== original.reservationId) {
    violate(tally, letter, `speaks of reservation ${letter.reservationId}, there lies one for ${original.reservationId}`);
  }
  const bound = kafkaOf(facts).deadLettersBounds.find((candidate) => candidate.partition === letter.partition);
  const read = bound?.committedOffset != null && BigInt(letter.offset) < BigInt(bound.committedOffset);
  if (read && !tableOf(facts).has(placeOfLetter(letter))) violate(tally, letter, 'was read by the undertaker and is not in the table');
}

function tableOf(facts: Facts): ReadonlyMap<string, readonly DeadLetterRow[]> {
  return grouped(postgresOf(facts).deadLetters, placeOfLetter);
}

function eachRow(facts: Facts, row: DeadLetterRow, inTopic: ReadonlyMap<string, DeadLetterRecord>, tally: Tally): void {
  tally.check();
  const problem = storyProblem(facts, row);
  if (problem !== null) violate(tally, row, problem);
  const whole = kafkaOf(facts).deadLettersBounds.every((bounds) => BigInt(bounds.beginOffset) === 0n);
  const record = inTopic.get(placeOfLetter(row));
  if (record === undefined && whole) violate(tally, row, 'is in the table and was never in the dead-letter topic');
  const same = record === undefined || (row.messageId === record.messageId && row.reservationId === record.reservationId && row.cause === record.cause);
  if (!same) violate(tally, row, `is kept as ${row.cause} of message ${row.messageId ?? 'none'} for reservation ${row.reservationId ?? 'none'}, in the topic it is another`);
  // Sent again or closed: from then on its reservation has to have an end of its own.
  if (row.status === OPEN || row.reservationId === null) return;
  const { end } = endOfReservation(facts, row.reservationId);
  if (end === 'none' || end === 'dead-letter' || end === 'unfinished') {
    if (facts.settle.present && facts.settle.value.drainedUs === null) tally.gap('not drained: messages that were sent again may still be on their way');
    else violate(tally, row, `was worked off (${row.resolution ?? String(row.status)}), and reservation ${row.reservationId} has no end`);
  }
}

/** Messages that the consumer has left behind: each has taken effect or is a dead letter. Unreadable ones can only be dead letters. */
function passedOver(facts: Facts, tally: Tally): void {
  const { ordersTopic, ordersGroup } = facts.run.namespace;
  const { orders, malformed, ordersBounds } = kafkaOf(facts);
  const committed = new Map(ordersBounds.map((bounds) => [bounds.partition, BigInt(bounds.committedOffset ?? '0')]));
  const inInbox = new Set(inboxRows(facts).filter((row) => row.consumerGroup === ordersGroup).map((row) => row.messageId));
  const dead = deadLetterPlaces(facts);
  const isLeft = (partition: number, offset: string): boolean => BigInt(offset) < (committed.get(partition) ?? 0n) && !dead.has(placeOf(ordersTopic, partition, offset));
  for (const record of orders) {
    tally.check();
    if (inInbox.has(record.messageId) || !isLeft(record.partition, record.offset)) continue;
    tally.violation({
      kind: 'message', id: record.messageId, subject: { messageId: record.messageId, reservationId: record.reservationId },
      claim: `Message ${record.messageId} at ${String(record.partition)}:${record.offset} was passed over: it has neither an Inbox row nor a dead letter.`,
    });
  }
  for (const record of malformed) {
    if (record.topic !== ordersTopic) continue;
    tally.check();
    if (!isLeft(record.partition, record.offset)) continue;
    const id = placeOf(record.topic, record.partition, record.offset);
    tally.violation({ kind: 'message', id, subject: {}, claim: `The unreadable record at ${id} (${record.problem}) was passed over without a dead letter.` });
  }
}

function openOnes(facts: Facts, tally: Tally): void {
  const rows = tableOf(facts);
  const open = [...deadLetterPlaces(facts)].filter((place) => (rows.get(place) ?? []).every((row) => row.status === OPEN));
  tally.remark(`${String(deadLetterPlaces(facts).size)} dead letters, ${String(open.length)} of them open`);
  const lost = kafkaOf(facts).deadLetters.filter((letter) => letter.reservationId !== null && !isAccountedFor(endOfReservation(facts, letter.reservationId)));
  if (lost.length === 0) return;
  const { drainedUs } = facts.settle.present ? facts.settle.value : { drainedUs: null };
  if (drainedUs === null) tally.gap('not drained: reservations of dead letters may still be on their way');
  else for (const letter of lost) violate(tally, letter, `is about reservation ${String(letter.reservationId)}, which has no end`);
}

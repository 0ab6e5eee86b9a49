/** What is missing, incomplete or contradictory in the evidence a judge needs. An empty list is the only licence to say `holds`. */
import type { Facts } from '../facts/facts.js';
import { ARRIVAL_OUTCOMES } from '../facts/history.js';
import { acceptancesOf } from './acceptances.js';
import { commitHistoryOf } from './commit-history.js';
import { contradictingCommitTimes, contradictingMessageTimes } from './contradicting-times.js';
import { deadLetterPlaces, kafkaOf, placeOf, planOf, postgresOf } from './indexes.js';
import type { EvidenceKind } from './invariant.js';
import { rememberedPerFacts } from './remembered.js';

const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');

export function evidenceGaps(facts: Facts, needs: readonly EvidenceKind[]): readonly string[] {
  const gaps: string[] = [];
  for (const kind of needs) {
    const evidence = facts[kind];
    if (!evidence.present) gaps.push(`no evidence from ${kind}: ${evidence.reason}`);
  }
  gaps.push(...emptinessOf(facts));
  if (needs.includes('history')) gaps.push(...historyGaps(facts));
  if (needs.includes('redis') && facts.redis.present) {
    const { problems } = facts.redis.value;
    if (problems.length > 0) gaps.push(`Redis holds ${String(problems.length)} things that could not be read: ${problems[0] ?? ''}`);
    gaps.push(...doubled('Redis', 'request', facts.redis.value.records.map((record) => record.requestId)));
    gaps.push(...doubled('Redis', 'the mark of user', facts.redis.value.users.map((mark) => mark.userId)));
    gaps.push(...doubled('the book of permits', 'the permit of user', facts.redis.value.permits.map(({ userId, nonce }) => `${userId} ${nonce}`)));
  }
  if (needs.includes('postgres')) gaps.push(...doubledRows(facts));
  if (needs.includes('channel') && facts.channel.present) gaps.push(...doubled('the channel', 'trade', facts.channel.value.charges.map((charge) => charge.tradeNo)));
  if (needs.includes('kafka')) gaps.push(...kafkaGaps(facts), ...contradictingMessageTimes(facts));
  if (needs.includes('commitLog') && facts.commitLog.present) gaps.push(...commitHistoryOf(facts).problems, ...contradictingCommitTimes(facts));
  return gaps;
}

/** Every index of the plan exactly once, and the same plan that the judge expands. */
const historyGaps: (facts: Facts) => readonly string[] = rememberedPerFacts((facts) => {
  if (!facts.history.present) return [];
  const { columns, complete, problems } = facts.history.value;
  const gaps: string[] = [];
  if (!complete) gaps.push(`the client history is incomplete: ${problems.join('; ') || 'no reason given'}`);
  const plan = planOf(facts);
  if (columns.length !== plan.length) gaps.push(`the client history has ${String(columns.length)} arrivals, the plan has ${String(plan.length)}`);
  return gaps;
});

/** A generator that reached nobody, or a gateway that refused everybody, would let every "nothing bad happened" hold. */
const emptinessOf: (facts: Facts) => readonly string[] = rememberedPerFacts((facts) => {
  if (!facts.history.present) return [];
  if (!facts.history.value.columns.outcome.includes(ANSWERED)) return ['not one arrival was answered: the run shows nothing'];
  if (facts.run.stock > 0 && acceptancesOf(facts).length === 0) return ['not one request was accepted: the run shows nothing'];
  return [];
});

/** A primary key twice in one snapshot: the snapshot is not one. */
const doubledRows: (facts: Facts) => readonly string[] = rememberedPerFacts((facts) => {
  const { orders, reservations, tokens, ledger, inbox, outbox, payments, unmatchedPayments, deadLetters } = postgresOf(facts);
  return [
    ...doubled('the snapshot', 'order', orders.map((row) => row.orderId)),
    ...doubled('the snapshot', 'reservation', reservations.map((row) => row.reservationId)),
    ...doubled('the snapshot', 'token', tokens.map((row) => row.tokenId)),
    ...doubled('the snapshot', 'ledger entry', ledger.map((row) => row.ledgerId)),
    ...doubled('the snapshot', 'Inbox row', inbox.map((row) => `${row.consumerGroup} ${row.messageId}`)),
    ...doubled('the snapshot', 'event', outbox.map((row) => row.eventId)),
    ...doubled('the snapshot', 'payment', payments.map((row) => row.paymentId)),
    ...doubled('the snapshot', 'unmatched payment', unmatchedPayments.map((row) => row.unmatchedId)),
    ...doubled('the snapshot', 'dead letter', deadLetters.map((row) => row.deadLetterId)),
  ];
});

function doubled(where: string, what: string, keys: readonly string[]): string[] {
  if (new Set(keys).size === keys.length) return [];
  const seen = new Set<string>();
  const twice = keys.find((key) => seen.size === seen.add(key).size);
  return [`${where} holds ${what} ${String(twice)} twice`];
}

function kafkaGaps(facts: Facts): readonly string[] {
  if (!facts.kafka.present) return [];
  const kafka = kafkaOf(facts);
  const gaps: string[] = [];
  // A topic without partitions was never there, and a topic that is not there has been read by nobody.
  if (kafka.ordersBounds.length === 0) gaps.push('the orders topic has no partition');
  // A poison message that was given up on is no gap: somebody saw it and wrote it down.
  const unread = kafka.malformed.filter((record) => !deadLetterPlaces(facts).has(placeOf(record.topic, record.partition, record.offset)));
  const [strange] = unread;
  if (strange !== undefined) {
    gaps.push(`${String(unread.length)} records are no message of the schema, the first is ${strange.topic} ${String(strange.partition)}:${strange.offset} (${strange.problem})`);
  }
  return [...gaps, ...readingGaps(facts), ...copiesThatDiffer(facts)];
}

/** What is delivered again is the same event, whoever delivers it: of copies that differ nobody knows which was acted on. */
const copiesThatDiffer: (facts: Facts) => readonly string[] = rememberedPerFacts((facts) => {
  const { events, closes } = kafkaOf(facts);
  const first = new Map<string, string>();
  const odd = [...events, ...closes].filter(({ eventId, type, reservationId, aggregateVersion, orderId, reason, returnsUnit }) => {
    const told = JSON.stringify([type, reservationId, aggregateVersion, orderId, reason, returnsUnit]);
    const known = first.get(eventId);
    if (known === undefined) first.set(eventId, told);
    return known !== undefined && known !== told;
  });
  const [example] = odd;
  return example === undefined ? [] : [`${String(odd.length)} events were delivered again with other contents, the first is ${example.eventId} at ${String(example.partition)}:${example.offset}`];
});

/**
 * Topics without transactions have a record at every offset: fewer or more than lie between a partition's bounds were not all read, or are not all real. What is
 * delivered again has an offset of its own; two records at one offset are no delivery.
 */
const readingGaps: (facts: Facts) => readonly string[] = rememberedPerFacts((facts) => {
  const { orders, events, closes, deadLetters, malformed, ordersBounds, eventsBounds, closesBounds, deadLettersBounds } = kafkaOf(facts);
  const { ordersTopic, eventsTopic, closesTopic, deadLettersTopic } = facts.run.namespace;
  const topics = [[ordersTopic, orders, ordersBounds], [eventsTopic, events, eventsBounds], [closesTopic, closes, closesBounds], [deadLettersTopic, deadLetters, deadLettersBounds]] as const;
  return topics.flatMap(([topic, records, bounds]) => {
    const places = [...records, ...malformed.filter((record) => record.topic === topic)].map(({ partition, offset }) => `${String(partition)}:${offset}`);
    const read = new Set(places);
    const there = bounds.reduce((sum, { beginOffset, endOffset }) => sum + BigInt(endOffset) - BigInt(beginOffset), 0n);
    const ahead = bounds.find(({ committedOffset, endOffset }) => committedOffset !== null && BigInt(committedOffset) > BigInt(endOffset));
    return [
      ...doubled(topic, 'a record at', places),
      ...(BigInt(read.size) === there ? [] : [`${topic} holds ${String(there)} records by its bounds, ${String(read.size)} were read`]),
      ...(ahead === undefined ? [] : [`${topic} ends at ${String(ahead.partition)}:${ahead.endOffset}, and its group has committed ${String(ahead.committedOffset)}`]),
    ];
  });
});

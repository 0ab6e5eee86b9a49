/** One small invented run for the tests of reports and faces: every kind of evidence, every shape of verdict. Never shipped in a report. */
import { DEFAULT_MIX } from '../facts/load-spec.js';
import { namespaceOf } from '../domain/namespace.js';
import type { Facts } from '../facts/facts.js';
import type { FaultRecord } from '../facts/fault-record.js';
import type { GeneratorFacts } from '../facts/history.js';
import type { InvariantVerdict, RunVerdict, WitnessOfViolation } from '../facts/verdict.js';

const RESERVATION = '01900000-0000-7000-8000-000000000001';
const MESSAGE = '01900000-0000-7000-8000-000000000002';
const present = <Value>(value: Value): { readonly present: true; readonly value: Value } => ({ present: true, value });

export const SAMPLE_FAULT: FaultRecord = {
  id: 'kill-role#1', name: 'kill-role', options: { step: 'gateway.after-reserve', times: 2 }, scheduledUs: 1_000, injectedUs: 1_100, healedUs: 9_000,
  prediction: 'gateway-1 exits by SIGKILL 2 times at gateway.after-reserve', proof: 'landed', observed: '2 step lines, 2 exits by SIGKILL',
  healed: true, healObserved: 'gateway-1 answers again', strikes: 2, strikesAsked: 2,
  hits: [{ planId: 'kill-role#1', instance: 'gateway-1', step: 'gateway.after-reserve', hit: 3, ids: [RESERVATION], monoUs: 1_100, action: 'kill' }], mayLose: null,
};

export const SAMPLE_GENERATOR: GeneratorFacts = {
  scheduled: 20_000, issued: 19_999, answered: 19_990, dropped: 1, notSent: 2, indeterminate: 7, latenessP50Us: 120, latenessP99Us: 2_400,
  latenessMaxUs: 15_250, startedUs: 0, endedUs: 10_000_000, cpuSeconds: 3.25, maxTickGapUs: 4_000,
};

export const SAMPLE_FACTS: Omit<Facts, 'history'> = {
  run: {
    scenario: 'hot-sku', namespace: namespaceOf('sample'), stock: 1, strategies: { consumer: 'batch:500', allocator: 'token' },
    load: {
      seed: 42, ratePerSecond: 10, durationMs: 1_000, shape: { kind: 'constant' }, mix: DEFAULT_MIX, transport: 'http', activityId: '1', skuId: '2',
      requestTimeoutMs: 5_000, connections: 8, pollIntervalMs: 500, pollsMax: 3, payers: null, permits: null,
    },
    rules: { restockOnCancel: true, rebuyAfterCancel: false },
    admission: { maxOldestAgeMs: 3_000, controlPeriodMs: 200 }, failClosed: { inFlightBoundMs: 700, breakerOpensWithinMs: null }, waitingRoom: { seed: 7, places: 1 },
    inboxRetentionMs: null, clockSkews: [{ instance: 'scanner-1', aheadMs: 60_000 }],
    clock: { atStart: { monoUs: 1, wallUs: 1_700_000_000_000_000 }, atEnd: { monoUs: 11, wallUs: 1_700_000_000_000_010 }, boundUs: 2_000 },
    invariants: ['no-oversell'], serviceLevels: [{ name: 'api-p99', bound: 500 }],
    shows: [{ figure: 'races', atLeast: 10 }],
  },
  redis: present({
    stock: 0, meta: { epoch: '1' }, permits: [{ userId: '9007199254741000', nonce: 'lab-42-0000000', requestId: 'r42-0' }], pending: ['r42-1'], problems: [], runId: 'abc',
    users: [{ userId: '9007199254741000', requestId: 'r42-0' }],
    records: [{
      requestId: 'r42-0', userId: '9007199254741000', reservationId: RESERVATION, messageId: MESSAGE, state: 'O', payloadHash: 'ff', purchaseNo: 1,
      reservedAtMs: 1, expiresAtMs: 2, orderId: '7', reason: null, appliedVersion: 1, unitReturned: false,
    }],
  }),
  kafka: present({
    orders: [{
      partition: 0, offset: '0', appendedAtMs: 1, messageId: MESSAGE, reservationId: RESERVATION, requestId: 'r42-0', userId: '9007199254741000', skuId: '2',
      reservedAtMs: 1, expiresAtMs: 2,
    }],
    events: [{
      partition: 0, offset: '0', appendedAtMs: 2, eventId: '5', type: 'ORDER_CREATED', reservationId: RESERVATION, aggregateVersion: 1, orderId: '7', reason: null,
      returnsUnit: false,
    }],
    closes: [{
      partition: 0, offset: '0', appendedAtMs: 9, eventId: '6', type: 'ORDER_CLOSE_DUE', reservationId: RESERVATION, aggregateVersion: 1, orderId: '7', reason: null,
      returnsUnit: false,
    }],
    deadLetters: [{
      partition: 0, offset: '0', appendedAtMs: 9, originTopic: 'sample.orders', originPartition: 0, originOffset: '9', messageId: null, reservationId: null,
      cause: 'MALFORMED', attempts: 1,
    }],
    malformed: [{ topic: 'sample.orders', partition: 0, offset: '9', problem: 'not JSON' }],
    ordersBounds: [{ partition: 0, beginOffset: '0', endOffset: '10', committedOffset: '10' }], eventsBounds: [], closesBounds: [],
    deadLettersBounds: [],
  }),
  postgres: present({
    orders: [{
      orderId: '7', requestId: 'r42-0', reservationId: RESERVATION, sourceMessageId: MESSAGE, userId: '9007199254741000', skuId: '2', purchaseNo: 1,
      inventoryBucket: 0, inventoryTokenId: '1', status: 10, totalAmount: '9.90', currency: 'CNY', version: 0, expireAtUs: 9,
      paidAtUs: null, cancelledAtUs: null, cancelReason: null, createdAtUs: 1, committedAtUs: null,
    }],
    reservations: [{
      reservationId: RESERVATION, requestId: 'r42-0', firstMessageId: MESSAGE, userId: '9007199254741000', purchaseNo: 1, status: 10, orderId: '7',
      failureCode: null, version: 1, expiresAtUs: 1, committedAtUs: 2,
    }],
    inventory: [{ skuId: '2', bucketNo: 0, total: 1, available: 0, allocated: 1 }],
    tokens: [{ tokenId: '1', skuId: '2', status: 10, reservationId: RESERVATION }],
    ledger: [{
      ledgerId: '1', idempotencyKey: `ALLOCATE:${RESERVATION}`, reservationId: RESERVATION, orderId: '7', bucketNo: 0, inventoryTokenId: '1', type: 10,
      reason: 'ORDER_CREATED', availableDelta: -1, allocatedDelta: 1, beforeAvailable: 1, afterAvailable: 0, beforeAllocated: 0, afterAllocated: 1,
    }],
    inbox: [{ consumerGroup: 'sample.order-create', messageId: MESSAGE, reservationId: RESERVATION, resultCode: 'ORDER_CREATED', orderId: '7' }],
    outbox: [{ eventId: '5', dedupKey: 'k', aggregateId: RESERVATION, aggregateVersion: 1, type: 'ORDER_CREATED', topic: 'sample.events', status: 20, retryCount: 0, availableAtUs: 1, archived: false }],
    compensations: [{ taskId: '1', idempotencyKey: 'k', type: 10, reservationId: null, orderId: null, status: 20, retryCount: 0, nextRunAtUs: 1 }],
    payments: [{
      paymentId: '1', orderId: '7', status: 20, provider: 'lab', tradeNo: 't1', callbackId: 'c1', amount: '9.90', currency: 'CNY', paidAtUs: 3, createdAtUs: 2, version: 1,
    }],
    unmatchedPayments: [{ unmatchedId: '1', provider: 'lab', tradeNo: 't2', claimedOrderId: null, amount: '1.00', currency: 'CNY', status: 0, reason: 'UNKNOWN_ORDER' }],
    deadLetters: [{
      deadLetterId: '1', originTopic: 'sample.orders', originPartition: 0, originOffset: '9', messageId: null, reservationId: null, cause: 'MALFORMED', attempts: 1,
      status: 0, resolution: null,
    }],
    itemMismatches: [{ orderId: '8', items: 2 }],
  }),
  commitLog: present({ transactions: [{ xid: 700, lsn: '0/15E4A20', committedAtUs: 5, changes: [{ table: 'orders', kind: 'insert', row: { order_id: '7', cancel_reason: null } }] }] }),
  faults: present([SAMPLE_FAULT]),
  settle: present({ healedUs: 9_000, drainedUs: null, boundMs: 20_000, open: ['lag 3'], quiesced: true, quiesceProblems: [] }),
  metrics: present({ 'gateway-1': { 'requests_total{code="QUEUED"}': 3, ratio: Number.NaN, limit: Number.POSITIVE_INFINITY } }),
  channel: present({
    charges: [{ tradeNo: 't1', provider: 'lab', paymentId: '1', orderId: '7', amount: '990', currency: 'CNY', takenUs: 2 }],
    refunds: [{ refundId: '1', tradeNo: 't1', amount: '990', currency: 'CNY', askedUs: 3, effect: 'paid-back' }],
  }),
  lottery: present([{ gateway: 'gateway-1', round: 'gateway-1/1700000000000/1', skuId: '2', seed: 7, places: 1, drawnAtMs: 1_700_000_000_500, entered: ['r42-0', 'r42-1'], drawn: ['r42-1'] }]),
};

export const SAMPLE_WITNESS: WitnessOfViolation = {
  kind: 'reservation', id: RESERVATION, claim: 'two orders hold one unit <&"]]>',
  biography: [
    { at: '2026-01-02T03:04:05.678901Z', source: 'client', text: 'told QUEUED' },
    { at: null, source: 'redis', text: 'state O | order 7\nsecond line' },
  ],
};

export function sampleInvariant(name: string, outcome: InvariantVerdict['outcome']): InvariantVerdict {
  const violated = outcome === 'violated';
  return { name, outcome, checked: 1_000, violations: violated ? 2 : 0, first: violated ? SAMPLE_WITNESS : null, worst: violated ? SAMPLE_WITNESS : null, note: `${name} ${outcome}`, excused: 0 };
}

const latencies = { count: 19_990, never: 0, p50Us: 870, p99Us: 12_300, p999Us: 45_600, maxUs: 1_234_567 };

export const SAMPLE_VERDICT: RunVerdict = {
  schemaVersion: 2,
  run: { id: 'hot-sku/20260102T030405Z-42', scenario: 'hot-sku', seed: 42, startedAt: '2026-01-02T03:04:05.000Z', directory: 'reports/hot-sku/20260102T030405Z-42' },
  outcome: 'green', exitCode: 0, headline: 'All 2 invariants hold: 1,000 of 1,000 units sold.',
  invariants: [sampleInvariant('no-oversell', 'holds'), sampleInvariant('no-undersell', 'not-judged')],
  serviceLevels: [
    { name: 'api-p99', outcome: 'met', measured: 12.3, bound: 500, unit: 'ms', note: '' },
    { name: 'order-within-3s', outcome: 'met', measured: 0.9995, bound: 0.99, unit: 'share', note: '' },
  ],
  shown: [{ figure: 'races', outcome: 'shown', atLeast: 10, seen: 1_012, what: 'orders whose money came within half a second of their end' }],
  load: { outcome: 'valid', reasons: [], generator: SAMPLE_GENERATOR },
  faults: [SAMPLE_FAULT],
  figures: {
    stock: 1_000, offered: 20_000, issued: 19_999, decided: 19_990, accepted: 1_000, soldOut: 17_000, refusedByCode: { LIMITED: 3, USER_HAS_ONE: 400 }, orders: 1_000,
    topicMessages: 1_002, topicDuplicates: 2, paid: 600, released: 25, refunds: 3, unmatchedPayments: 1, deadLetters: 2, waitingForHumans: 1,
    funnel: {
      counts: [
        { layer: 'known', outcome: 'passed', count: 40 }, { layer: 'permit', outcome: 'passed', count: 15_000 }, { layer: 'permit', outcome: 'refused', count: 4_000 },
      ],
      restarted: ['gateway-1'],
    },
    transport: 'http', cost: { reachedRedis: null, soldOutKnownMs: null, cpuSeconds: {}, stealSeconds: null },
    latencyFromIntended: latencies, winnersLatency: latencies, reservationToOrder: latencies, recoveryMs: 850, excused: 0,
  },
};

export const SAMPLE_VIOLATED: RunVerdict = {
  ...SAMPLE_VERDICT, outcome: 'violated', exitCode: 1, headline: 'no-oversell is violated: 2 of 1,000.',
  invariants: [sampleInvariant('stable-message-id', 'unknown'), sampleInvariant('no-oversell', 'violated')],
  serviceLevels: SAMPLE_VERDICT.serviceLevels.map((level) => ({ ...level, outcome: 'not-judged', measured: null, note: 'the run is violated' })),
  faults: [{ ...SAMPLE_FAULT, proof: 'not-landed', healed: false }],
  load: { outcome: 'void', reasons: ['generator saturated'], generator: null },
};

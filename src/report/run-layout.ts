/**
 * Where things lie inside a run folder, and what a row of each facts file looks like.
 *
 * The names are an interface: `seckill-lab check`, people with `jq` and later versions of this program read them.
 */
import type {
  CommittedTransaction, CompensationRow, DeadLetterRecord, DeadLetterRow, EventLogRecord, InboxRow, InventoryRow, LedgerRow, OrderLogRecord, OrderRow,
  OutboxRow, PaymentRow, PostgresFacts, RedisFacts, RedisRecord, ReservationRow, TokenRow, UnmatchedPaymentRow,
} from '../facts/store-facts.js';
import type { ChannelCharge, ChannelRefund } from '../facts/channel-books.js';
import type { FaultRecord } from '../facts/fault-record.js';
import type { LotteryDraw } from '../facts/lottery.js';
import type { ShapeOf } from './evidence-file.js';

export const RUN_FILES = {
  manifest: 'manifest.json',
  historyColumns: 'history.bin',
  historyTellings: 'history.ndjson',
  faults: 'faults.ndjson',
  events: 'events.ndjson',
  verdict: 'verdict.json',
  junit: 'junit.xml',
  summary: 'summary.md',
  logs: 'logs',
  facts: 'facts',
} as const;

/** Single documents under `facts/`. */
export const FACT_DOCUMENTS = {
  index: 'facts/index.json',
  run: 'facts/run.json',
  settle: 'facts/settle.json',
  metrics: 'facts/metrics.json',
  redis: 'facts/redis.json',
  kafka: 'facts/kafka.json',
} as const;

/** A file with one row a line, and the fields that each row must have. */
export interface RowFile<Row> {
  readonly path: string;
  readonly shape: ShapeOf<Row>;
}

const redisRecords: RowFile<RedisRecord> = {
  path: 'facts/redis-records.ndjson',
  shape: {
    requestId: 'string', userId: 'string', reservationId: 'string', messageId: 'string', state: 'string', payloadHash: 'string',
    purchaseNo: 'number', reservedAtMs: 'number', expiresAtMs: 'number', orderId: 'string?', reason: 'string?', appliedVersion: 'number',
    unitReturned: 'boolean',
  },
};

const redisUsers: RowFile<RedisFacts['users'][number]> = {
  path: 'facts/redis-users.ndjson',
  shape: { userId: 'string', requestId: 'string' },
};

const redisPermits: RowFile<RedisFacts['permits'][number]> = {
  path: 'facts/redis-permits.ndjson',
  shape: { userId: 'string', nonce: 'string', requestId: 'string' },
};

const kafkaOrders: RowFile<OrderLogRecord> = {
  path: 'facts/kafka-orders.ndjson',
  shape: {
    partition: 'number', offset: 'string', appendedAtMs: 'number', messageId: 'string', reservationId: 'string', requestId: 'string',
    userId: 'string', skuId: 'string', reservedAtMs: 'number', expiresAtMs: 'number',
  },
};

const eventShape: ShapeOf<EventLogRecord> = {
  partition: 'number', offset: 'string', appendedAtMs: 'number', eventId: 'string', type: 'string', reservationId: 'string',
  aggregateVersion: 'number', orderId: 'string?', reason: 'string?', returnsUnit: 'boolean',
};
const kafkaEvents: RowFile<EventLogRecord> = { path: 'facts/kafka-events.ndjson', shape: eventShape };
const kafkaCloses: RowFile<EventLogRecord> = { path: 'facts/kafka-closes.ndjson', shape: eventShape };

const kafkaDeadLetters: RowFile<DeadLetterRecord> = {
  path: 'facts/kafka-dead-letters.ndjson',
  shape: {
    partition: 'number', offset: 'string', appendedAtMs: 'number', originTopic: 'string', originPartition: 'number', originOffset: 'string',
    messageId: 'string?', reservationId: 'string?', cause: 'string', attempts: 'number',
  },
};

const orders: RowFile<OrderRow> = {
  path: 'facts/postgres-orders.ndjson',
  shape: {
    orderId: 'string', requestId: 'string', reservationId: 'string', sourceMessageId: 'string', userId: 'string', skuId: 'string',
    purchaseNo: 'number', inventoryBucket: 'number', inventoryTokenId: 'string?', status: 'number', totalAmount: 'string',
    currency: 'string', version: 'number', expireAtUs: 'number', paidAtUs: 'number?', cancelledAtUs: 'number?', cancelReason: 'string?', createdAtUs: 'number', committedAtUs: 'number?',
  },
};

const reservations: RowFile<ReservationRow> = {
  path: 'facts/postgres-reservations.ndjson',
  shape: {
    reservationId: 'string', requestId: 'string', firstMessageId: 'string', userId: 'string', purchaseNo: 'number',
    status: 'number', orderId: 'string?', failureCode: 'string?', version: 'number', expiresAtUs: 'number', committedAtUs: 'number?',
  },
};

const inventory: RowFile<InventoryRow> = {
  path: 'facts/postgres-inventory.ndjson',
  shape: { skuId: 'string', bucketNo: 'number', total: 'number', available: 'number', allocated: 'number' },
};

const tokens: RowFile<TokenRow> = {
  path: 'facts/postgres-tokens.ndjson',
  shape: { tokenId: 'string', skuId: 'string', status: 'number', reservationId: 'string?' },
};

const ledger: RowFile<LedgerRow> = {
  path: 'facts/postgres-ledger.ndjson',
  shape: {
    ledgerId: 'string', idempotencyKey: 'string', reservationId: 'string', orderId: 'string?', bucketNo: 'number', inventoryTokenId: 'string?',
    type: 'number', reason: 'string', availableDelta: 'number', allocatedDelta: 'number', beforeAvailable: 'number', afterAvailable: 'number',
    beforeAllocated: 'number', afterAllocated: 'number',
  },
};

const inbox: RowFile<InboxRow> = {
  path: 'facts/postgres-inbox.ndjson',
  shape: { consumerGroup: 'string', messageId: 'string', reservationId: 'string', resultCode: 'string', orderId: 'string?' },
};

const outbox: RowFile<OutboxRow> = {
  path: 'facts/postgres-outbox.ndjson',
  shape: {
    eventId: 'string', dedupKey: 'string', aggregateId: 'string', aggregateVersion: 'number', type: 'string', topic: 'string',
    status: 'number', retryCount: 'number', availableAtUs: 'number', archived: 'boolean',
  },
};

const compensations: RowFile<CompensationRow> = {
  path: 'facts/postgres-compensations.ndjson',
  shape: {
    taskId: 'string', idempotencyKey: 'string', type: 'number', reservationId: 'string?', orderId: 'string?', status: 'number', retryCount: 'number',
    nextRunAtUs: 'number',
  },
};

const payments: RowFile<PaymentRow> = {
  path: 'facts/postgres-payments.ndjson',
  shape: {
    paymentId: 'string', orderId: 'string', status: 'number', provider: 'string', tradeNo: 'string?', callbackId: 'string?', amount: 'string',
    currency: 'string', paidAtUs: 'number?', createdAtUs: 'number', version: 'number',
  },
};

const unmatchedPayments: RowFile<UnmatchedPaymentRow> = {
  path: 'facts/postgres-unmatched-payments.ndjson',
  shape: {
    unmatchedId: 'string', provider: 'string', tradeNo: 'string', claimedOrderId: 'string?', amount: 'string', currency: 'string', status: 'number',
    reason: 'string',
  },
};

const deadLetters: RowFile<DeadLetterRow> = {
  path: 'facts/postgres-dead-letters.ndjson',
  shape: {
    deadLetterId: 'string', originTopic: 'string', originPartition: 'number', originOffset: 'string', messageId: 'string?', reservationId: 'string?',
    cause: 'string', attempts: 'number', status: 'number', resolution: 'string?',
  },
};

const itemMismatches: RowFile<PostgresFacts['itemMismatches'][number]> = {
  path: 'facts/postgres-item-mismatches.ndjson',
  shape: { orderId: 'string', items: 'number' },
};

const commitLog: RowFile<CommittedTransaction> = {
  path: 'facts/commit-log.ndjson',
  shape: { xid: 'number', lsn: 'string', committedAtUs: 'number', changes: 'array' },
};

const faults: RowFile<FaultRecord> = {
  path: RUN_FILES.faults,
  shape: {
    id: 'string', name: 'string', options: 'object', scheduledUs: 'number', injectedUs: 'number?', healedUs: 'number?', prediction: 'string',
    proof: 'string', observed: 'string', healed: 'boolean', healObserved: 'string', strikes: 'number', strikesAsked: 'number', hits: 'array',
    mayLose: 'object?',
  },
};

const lottery: RowFile<LotteryDraw> = {
  path: 'facts/lottery.ndjson',
  shape: { gateway: 'string', round: 'string', skuId: 'string', seed: 'number', places: 'number', drawnAtMs: 'number', entered: 'array', drawn: 'array' },
};

const channelCharges: RowFile<ChannelCharge> = {
  path: 'facts/channel-charges.ndjson',
  shape: { tradeNo: 'string', provider: 'string', paymentId: 'string?', orderId: 'string', amount: 'string', currency: 'string', takenUs: 'number' },
};

const channelRefunds: RowFile<ChannelRefund> = {
  path: 'facts/channel-refunds.ndjson',
  shape: { refundId: 'string', tradeNo: 'string', amount: 'string', currency: 'string', askedUs: 'number', effect: 'string' },
};

export const ROW_FILES = {
  redisRecords, redisUsers, redisPermits, kafkaOrders, kafkaEvents, kafkaCloses, kafkaDeadLetters, commitLog, faults, lottery, channelCharges, channelRefunds,
  postgres: { orders, reservations, inventory, tokens, ledger, inbox, outbox, compensations, payments, unmatchedPayments, deadLetters, itemMismatches },
} as const;

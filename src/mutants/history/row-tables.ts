/** The rows of evidence that a history mutant can drop, double or mix up, by the name a reader knows them by. */
import type { Draft } from './history-mutant.js';

export type Row = Record<string, unknown>;

export interface RowTable {
  readonly name: string;
  readonly rows: (draft: Draft) => Row[];
  /** Bounds of the topic that the rows are records of: one may be delivered again, at the end of its partition. Null: they are of no topic. */
  readonly boundsOf: ((draft: Draft) => Draft['kafka']['ordersBounds']) | null;
  /** Fields by which a row belongs to somebody or says what became of him: two rows must not exchange them. */
  readonly identity: readonly string[];
}

const table = (name: string, rows: (draft: Draft) => readonly object[], identity: readonly string[], boundsOf: RowTable['boundsOf'] = null): RowTable => ({ name, rows: (draft) => rows(draft) as Row[], identity, boundsOf });

export const ROW_TABLES: readonly RowTable[] = [
  table('order', (draft) => draft.postgres.orders, ['requestId', 'reservationId', 'sourceMessageId', 'userId', 'inventoryTokenId', 'status']),
  table('reservation', (draft) => draft.postgres.reservations, ['reservationId', 'requestId', 'firstMessageId', 'userId', 'status', 'orderId']),
  table('token', (draft) => draft.postgres.tokens, ['tokenId', 'status', 'reservationId']),
  table('ledger-entry', (draft) => draft.postgres.ledger, ['reservationId', 'orderId', 'inventoryTokenId', 'type', 'availableDelta']),
  table('inbox-row', (draft) => draft.postgres.inbox, ['messageId', 'reservationId', 'resultCode', 'orderId']),
  table('outbox-row', (draft) => draft.postgres.outbox, ['aggregateId', 'type', 'status']),
  table('payment', (draft) => draft.postgres.payments, ['orderId', 'status', 'tradeNo']),
  table('unmatched-payment', (draft) => draft.postgres.unmatchedPayments, ['tradeNo']),
  table('charge', (draft) => draft.channel.charges, ['tradeNo', 'orderId', 'amount']),
  table('refund', (draft) => draft.channel.refunds, ['tradeNo', 'refundId']),
  table('dead-letter-row', (draft) => draft.postgres.deadLetters, ['reservationId', 'messageId', 'originOffset']),
  table('message', (draft) => draft.kafka.orders, ['messageId', 'reservationId', 'requestId', 'userId'], (draft) => draft.kafka.ordersBounds),
  table('event', (draft) => draft.kafka.events, ['reservationId', 'type', 'orderId', 'returnsUnit'], (draft) => draft.kafka.eventsBounds),
  table('timer', (draft) => draft.kafka.closes, ['reservationId'], (draft) => draft.kafka.closesBounds),
  table('dead-letter', (draft) => draft.kafka.deadLetters, ['reservationId', 'messageId', 'originOffset'], (draft) => draft.kafka.deadLettersBounds),
  table('redis-record', (draft) => draft.redis.records, ['requestId', 'reservationId', 'messageId', 'userId', 'orderId', 'unitReturned']),
  table('user-mark', (draft) => draft.redis.users, ['userId', 'requestId']),
];

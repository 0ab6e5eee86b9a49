/** The rows of evidence that a history mutant can drop, double or mix up, by the name a reader knows them by. */
import type { Draft } from './history-mutant.js';

export type Row = Record<string, unknown>;

export interface RowTable {
  readonly name: string;
  readonly rows: (draft: Draft) => Row[];
  /** Null: a row that stands there twice is a wrong. Otherwise why it may. */
  readonly mayComeTwice: string | null;
  /** Fields by which a row belongs to somebody or says what became of him: two rows must not exchange them. */
  readonly identity: readonly string[];
}

const AT_LEAST_ONCE = 'delivered twice is what at-least-once means';
const table = (name: string, rows: (draft: Draft) => readonly object[], identity: readonly string[], mayComeTwice: string | null = null): RowTable => ({ name, rows: (draft) => rows(draft) as Row[], identity, mayComeTwice });

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
  table('message', (draft) => draft.kafka.orders, ['messageId', 'reservationId', 'requestId', 'userId'], AT_LEAST_ONCE),
  table('event', (draft) => draft.kafka.events, ['reservationId', 'type', 'orderId', 'returnsUnit'], AT_LEAST_ONCE),
  table('timer', (draft) => draft.kafka.closes, ['reservationId'], AT_LEAST_ONCE),
  table('dead-letter', (draft) => draft.kafka.deadLetters, ['reservationId', 'messageId', 'originOffset'], AT_LEAST_ONCE),
  table('redis-record', (draft) => draft.redis.records, ['requestId', 'reservationId', 'messageId', 'userId', 'orderId', 'unitReturned']),
  table('user-mark', (draft) => draft.redis.users, ['userId', 'requestId']),
];

/** The stores' side of a story: one line per record, row or change that bears one of its names. */
import type { Facts } from '../facts/facts.js';
import type { RowChange } from '../facts/store-facts.js';
import type { Identity } from './identity.js';
import { kafkaOf, placeOf, postgresOf, redisOf } from './indexes.js';
import { ORDER_STATES, PAYMENT_STATES, RESERVATION_STATES, stateName, TOKEN_STATES } from './state-tables.js';
import type { TimedLine } from './story.js';

export function redisLines(facts: Facts, identity: Identity): TimedLine[] {
  return redisOf(facts).records.filter((record) => identity.reservations.has(record.reservationId) || identity.requests.has(record.requestId)).map((record) => ({
    wallUs: record.reservedAtMs * 1000,
    source: 'redis',
    text: `reserved as ${record.reservationId}, message ${record.messageId}; the record ends in state ${record.state}${record.orderId === null ? '' : ` with order ${record.orderId}`}${record.unitReturned ? ', its unit given back' : ''}`,
  }));
}

export function kafkaLines(facts: Facts, identity: Identity): TimedLine[] {
  const { orders, events, closes, deadLetters } = kafkaOf(facts);
  const letters = deadLetters.filter((letter) => identity.reservations.has(letter.reservationId ?? '') || identity.messages.has(letter.messageId ?? ''));
  const messages = orders.filter((record) => identity.reservations.has(record.reservationId) || identity.messages.has(record.messageId));
  return [
    ...messages.map((record): TimedLine => ({
      wallUs: record.appendedAtMs * 1000, source: 'kafka', text: `orders topic ${String(record.partition)}:${record.offset}: message ${record.messageId}, reservation ${record.reservationId}`,
    })),
    ...[...events, ...closes].filter((event) => identity.reservations.has(event.reservationId)).map((event): TimedLine => ({
      wallUs: event.appendedAtMs * 1000, source: 'kafka',
      text: `event ${String(event.partition)}:${event.offset}: ${event.type}, version ${String(event.aggregateVersion)}${event.returnsUnit ? ', returns the unit' : ''}`,
    })),
    ...letters.map((letter): TimedLine => ({
      wallUs: letter.appendedAtMs * 1000, source: 'kafka', text: `dead letter of ${placeOf(letter.originTopic, letter.originPartition, letter.originOffset)}: ${letter.cause} after ${String(letter.attempts)} attempts`,
    })),
  ];
}

export function postgresLines(facts: Facts, identity: Identity): TimedLine[] {
  const { orders, reservations, inbox, ledger, outbox, tokens, payments, unmatchedPayments, deadLetters } = postgresOf(facts);
  const lines: TimedLine[] = [];
  const add = (wallUs: number | null, text: string): void => {
    lines.push({ wallUs, source: 'postgres', text });
  };
  for (const row of inbox) if (identity.messages.has(row.messageId)) add(null, `Inbox: message ${row.messageId} → ${row.resultCode}${row.orderId === null ? '' : `, order ${row.orderId}`}`);
  for (const row of reservations) {
    if (!identity.reservations.has(row.reservationId)) continue;
    add(row.committedAtUs, `reservation row: ${stateName(RESERVATION_STATES, row.status)}${row.failureCode === null ? '' : ` (${row.failureCode})`}${row.orderId === null ? '' : `, order ${row.orderId}`}`);
  }
  for (const row of orders) {
    if (identity.orders.has(row.orderId)) add(row.committedAtUs, `order row ${row.orderId}: ${stateName(ORDER_STATES, row.status)}, user ${row.userId}, token ${row.inventoryTokenId ?? 'none'}${row.cancelReason === null ? '' : ` (${row.cancelReason})`}`);
  }
  for (const row of payments) {
    if (identity.orders.has(row.orderId)) add(row.paidAtUs ?? row.createdAtUs, `payment ${row.paymentId}: ${stateName(PAYMENT_STATES, row.status)}, trade ${row.tradeNo ?? 'none'}, ${row.amount} ${row.currency}`);
  }
  for (const row of unmatchedPayments) {
    if (row.claimedOrderId !== null && identity.orders.has(row.claimedOrderId)) add(null, `unmatched payment: trade ${row.tradeNo}, ${row.amount} ${row.currency}, ${row.reason}`);
  }
  for (const row of deadLetters) {
    if (row.reservationId !== null && identity.reservations.has(row.reservationId)) add(null, `dead letter ${row.deadLetterId}: ${row.cause}, ${row.resolution ?? 'open'}`);
  }
  for (const row of tokens) {
    if (identity.tokens.has(row.tokenId)) add(null, `token ${row.tokenId}: ${stateName(TOKEN_STATES, row.status)}, reservation ${row.reservationId ?? 'none'}`);
  }
  for (const row of ledger) {
    if (!identity.reservations.has(row.reservationId)) continue;
    add(null, `ledger ${row.idempotencyKey}: available ${String(row.beforeAvailable)} → ${String(row.afterAvailable)}, allocated ${String(row.beforeAllocated)} → ${String(row.afterAllocated)}`);
  }
  for (const row of outbox) if (identity.reservations.has(row.aggregateId)) add(null, `Outbox: ${row.type}, status ${String(row.status)}, ${String(row.retryCount)} retries`);
  return lines;
}

const NAMES_OF_COLUMNS: readonly (readonly [string, keyof Identity])[] = [
  ['reservation_id', 'reservations'], ['order_id', 'orders'], ['token_id', 'tokens'], ['message_id', 'messages'], ['aggregate_id', 'reservations'],
];

function concerns(change: RowChange, identity: Identity): boolean {
  return NAMES_OF_COLUMNS.some(([column, set]) => {
    const value = change.row[column];
    return value !== undefined && value !== null && identity[set].has(value);
  });
}

export function commitLogLines(facts: Facts, identity: Identity): TimedLine[] {
  if (!facts.commitLog.present) return [];
  const lines: TimedLine[] = [];
  for (const transaction of facts.commitLog.value.transactions) {
    const changes = transaction.changes.filter((change) => concerns(change, identity));
    if (changes.length === 0) continue;
    const told = changes.map((change) => {
      const status = change.row['status'] ?? change.row['result_code'];
      return `${change.kind} ${change.table}${status === undefined || status === null ? '' : ` → ${status}`}`;
    });
    lines.push({ wallUs: transaction.committedAtUs, source: 'commit-log', text: `commit ${transaction.lsn}: ${told.join(', ')}` });
  }
  return lines;
}

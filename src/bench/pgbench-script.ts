/**
 * The order transaction of `batch:N` as a script for pgbench: the statements of `sql/commands` in the order of `order-transaction.ts`, each parameter a variable
 * that pgbench sends as text, as the driver does. The columns of each batch lie in a table and are read in front of the transaction.
 */
import type { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';

import type { Namespace } from '../domain/namespace.js';
import type { OrderMessage } from '../domain/order-message.js';
import { loadStatements, type CommandName } from '../system/ledger/sql-loader.js';

const FIRST_ORDER_ID = 8_000_000_000_000_000;
const PAYMENT_WINDOW_MS = 900_000;

/** Columns of a batch, each an array as PostgreSQL reads it. */
type Columns = Readonly<Record<string, readonly (string | number | boolean | null)[]>>;

function columnsOf(messages: readonly OrderMessage[], firstOrderId: number): Columns {
  const all = <Value>(value: Value): Value[] => messages.map(() => value);
  const orderIds = messages.map((_message, place) => String(firstOrderId + place));
  const expireAt = new Date(Date.now() + PAYMENT_WINDOW_MS).toISOString();
  return {
    message_ids: messages.map(({ messageId }) => messageId), reservation_ids: messages.map(({ reservationId }) => reservationId), payload_hashes: messages.map(({ payloadHash }) => payloadHash),
    order_ids: orderIds, order_nos: orderIds.map((orderId) => `SK${orderId}`), request_ids: messages.map(({ requestId }) => requestId),
    activity_ids: messages.map(({ activityId }) => activityId), sku_ids: messages.map(({ skuId }) => skuId), user_ids: messages.map(({ userId }) => userId),
    ones: all(1), zeros: all(0), rebuys: all(false), prices: all('9900'), currencies: all('CNY'), titles: all('bench'),
    reserved_at: messages.map(({ reservedAtMs }) => reservedAtMs), expires_at: messages.map(({ expiresAtMs }) => expiresAtMs),
    ledger_ids: orderIds, created_ids: messages.map(() => uuidv7()), timer_ids: messages.map(() => uuidv7()), twos: all(2), expire_at: all(expireAt), headers: all('{}'),
  };
}

const COLUMN_NAMES = Object.keys(columnsOf([], 0));

/** What each `$n` of a statement is, in order. `'…'` and numbers stand for themselves. */
function stagesOf({ ordersGroup, ordersTopic, eventsTopic, closesTopic }: Namespace, { activityId, skuId }: { activityId: string; skuId: string }): readonly (readonly [CommandName, readonly string[]])[] {
  return [
    ['insert_inbox', [`'${ordersGroup}'`, `'${ordersTopic}'`, ':message_ids', ':reservation_ids', ':payload_hashes', ':order_ids']],
    ['load_sku_terms', [`'{${activityId}}'`, `'{${skuId}}'`]],
    ['insert_reservations', [':reservation_ids', ':request_ids', ':message_ids', ':activity_ids', ':sku_ids', ':user_ids', ':ones', ':reserved_at', ':expires_at']],
    ['insert_orders', [
      ':order_ids', ':order_nos', ':request_ids', ':reservation_ids', ':message_ids', ':activity_ids', ':sku_ids', ':user_ids', ':rebuys', ':prices', ':currencies', String(PAYMENT_WINDOW_MS),
    ]],
    ['claim_tokens', [activityId, skuId, ':reservation_ids', ':order_ids']],
    ['set_order_tokens', [':claimed_orders', ':claimed_tokens']],
    ['insert_order_items', [':order_ids', ':activity_ids', ':sku_ids', ':titles', ':prices']],
    ['insert_ledger_allocations', [
      ':ledger_ids', ':reservation_ids', ':order_ids', ':message_ids', ':activity_ids', ':sku_ids', ':user_ids', ':zeros', ':claimed_tokens', ':ones', ':zeros',
    ]],
    ['mark_reservations_ordered', [':reservation_ids', ':order_ids', ':ones']],
    ['insert_order_events', [
      ':reservation_ids', ':twos', ':request_ids', ':activity_ids', ':sku_ids', ':user_ids', ':order_ids', ':created_ids', ':timer_ids', ':expire_at', ':headers', `'${eventsTopic}'`, `'${closesTopic}'`,
    ]],
  ];
}

/** A statement with its parameters written in, ended as pgbench wants it. */
export function written(name: CommandName, text: string, values: readonly string[]): string {
  const lines = text.split('\n').filter((line) => !line.startsWith('--')).join('\n').trim();
  // pgbench takes every colon before a word for a variable, those of JSON in a literal too.
  const statement = lines.replaceAll(/":(?=\w)/g, `":' || '`);
  const filled = statement.replaceAll(/\$(\d+)/g, (_match, number: string) => {
    const value = values[Number(number) - 1];
    if (value === undefined) throw new Error(`${name} has no value for $${number}`);
    return value;
  });
  if (name !== 'claim_tokens') return `${filled};`;
  // The units it claims are parameters of the statements behind it.
  const update = filled.indexOf('UPDATE inventory_token');
  return `${filled.slice(0, update).trimEnd()}, claimed AS (\n${filled.slice(update)}\n)\nSELECT array_agg(order_id ORDER BY order_id) AS claimed_orders, array_agg(token_id ORDER BY order_id) AS claimed_tokens FROM claimed \\gset`;
}

export interface PgbenchScripts {
  /** Fetches the columns of the next batch. */
  readonly read: string;
  /** The transaction that writes the batch that was read. */
  readonly write: string;
}

/** Puts the batches into the database; read and write once more for each of them. */
export async function preparePgbench(database: Client, namespace: Namespace, messages: readonly OrderMessage[], batch: number): Promise<PgbenchScripts> {
  const [first] = messages;
  if (first === undefined) throw new Error('pgbench needs messages');
  await database.query(`CREATE TABLE bench_batch (batch INTEGER PRIMARY KEY, ${COLUMN_NAMES.map((name) => `${name} TEXT NOT NULL`).join(', ')})`);
  await database.query('CREATE SEQUENCE bench_batches');
  for (let from = 0; from < messages.length; from += batch) {
    const columns = columnsOf(messages.slice(from, from + batch), FIRST_ORDER_ID + from);
    const values = COLUMN_NAMES.map((_name, place) => `($${String(place + 2)}::text[])::text`);
    await database.query(`INSERT INTO bench_batch VALUES ($1, ${values.join(', ')})`, [from / batch + 1, ...COLUMN_NAMES.map((name) => columns[name])]);
  }
  await database.query('VACUUM ANALYZE bench_batch');
  const statements = loadStatements();
  const write = [
    'BEGIN ISOLATION LEVEL READ COMMITTED;',
    ...stagesOf(namespace, first).map(([name, values]) => written(name, statements[name].text, values)),
    'COMMIT;',
    '',
  ].join('\n');
  return { read: `SELECT ${COLUMN_NAMES.join(', ')} FROM bench_batch WHERE batch = (SELECT nextval('bench_batches')) \\gset`, write };
}

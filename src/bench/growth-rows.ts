/** A sale with so many orders behind it: rows in every table of an order, and marks in Redis. */
import { readFileSync } from 'node:fs';

import { v7 as uuidv7 } from 'uuid';

import type { SkuKey } from '../domain/ids.js';
import type { RunningStack } from '../stack/running-stack.js';
import type { RedisStock } from '../system/stock/redis-stock.js';
import type { ReserveRequest } from '../system/stock/stock-port.js';
import { ACTIVITY_ID, openSale, SKU_ID, VERSION, type Sale } from '../lab/size/sale.js';

const FILLS = {
  inventory_token: 'fill_tokens', inventory_reservation: 'fill_reservations', orders: 'fill_orders', order_items: 'fill_order_items', inventory_ledger: 'fill_ledger', consumer_inbox: 'fill_inbox',
  event_outbox: 'fill_outbox',
} as const;

function valuesOf(table: string, rows: number, { namespace }: Sale): readonly (string | number)[] {
  if (table === 'consumer_inbox') return [rows, namespace.ordersGroup, namespace.ordersTopic];
  return table === 'event_outbox' ? [rows, namespace.eventsTopic] : [rows, ACTIVITY_ID, SKU_ID];
}

/** A sale of which `rows` units are ordered and `units` are left. Takes about a minute for a million. */
export async function openGrownSale(stack: RunningStack, rows: number, units: number): Promise<Sale> {
  const sale = await openSale(stack, { units });
  const { database } = sale;
  // The rows are made up: nobody waits for their disk, and what refers to what is right by construction.
  await database.query("SET synchronous_commit = off; SET session_replication_role = replica; SET maintenance_work_mem = '256MB'");
  for (const [table, file] of Object.entries(FILLS)) await database.query(readFileSync(new URL(`../../sql/bench/${file}.sql`, import.meta.url), 'utf8'), [...valuesOf(table, rows, sale)]);
  await database.query('RESET synchronous_commit; RESET session_replication_role');
  await database.query(`VACUUM ANALYZE ${Object.keys(FILLS).join(', ')}`);
  await database.query('CHECKPOINT');
  return sale;
}

/** Requests in calls of 64. Each user buys once, so ids must never repeat: `name` is fresh. */
export function callsOf(name: string, count: number): ReserveRequest[][] {
  const reservedAtMs = Date.now();
  const hash = 'a'.repeat(64);
  return Array.from({ length: Math.ceil(count / 64) }, (_call, call) =>
    Array.from({ length: 64 }, (_request, place): ReserveRequest => {
      const id = `${name}-${String(call * 64 + place)}`;
      return { requestId: id, userId: `${name.replaceAll(/\D/g, '')}${String(call * 64 + place).padStart(7, '0')}`, payloadHash: hash, reservationId: uuidv7(), messageId: uuidv7(), reservedAtMs, expiresAtMs: reservedAtMs + 86_400_000 };
    }));
}

/** Reserves all of them, `inFlight` calls at once. */
export async function reserveAll(stock: RedisStock, sku: SkuKey, calls: readonly (readonly ReserveRequest[])[], inFlight: number): Promise<void> {
  const queue = calls.values();
  await Promise.all(Array.from({ length: inFlight }, async () => {
    for (const call of queue) {
      const reply = await stock.reserve(sku, call);
      if (reply.outcome !== 'done' || reply.decisions.some(({ code }) => code !== 'RESERVED')) throw new Error(`a reservation was refused: ${JSON.stringify(reply).slice(0, 200)}`);
    }
  }));
}

let skus = 0;

/** A SKU of its own with `marks` accepted requests, and stock for more. */
export async function grownSku(stock: RedisStock, marks: number): Promise<SkuKey> {
  skus += 1;
  const sku = { activityId: ACTIVITY_ID, skuId: String(30_000 + skus) };
  const meta = { activityVersion: VERSION, startAtMs: 0, endAtMs: 9e12, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '1' };
  await stock.warmUp(sku, { stock: marks + 1_000_000, meta });
  // In parts: the requests of a million at once would not fit into memory beside the rest.
  for (let from = 0; from < marks; from += 64_000) await reserveAll(stock, sku, callsOf(`1${String(skus)}9${String(from)}`, Math.min(64_000, marks - from)), 8);
  return sku;
}

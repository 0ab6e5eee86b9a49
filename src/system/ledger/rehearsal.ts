/**
 * Orders that are taken back: what a consumer runs for an order is compiled, and its sessions have read the catalogue and prepared their statements, before the first customer's
 * order comes. Cold, an order of a storm took half as much again. Everything happens in transactions that are rolled back, on an activity of their own that nobody else sees.
 */
import type { Pool } from 'pg';

import { encodeOrderMessage, parseOrderMessage, type OrderMessage } from '../../domain/order-message.js';
import type { RoleInstance } from '../../domain/roles.js';
import { silentStepObserver } from '../../domain/steps.js';
import { freshId } from '../fresh-id.js';
import { workerNumber } from './order-id.js';
import { decideMessages, type OrderTransactionParts } from './order-transaction.js';
import type { Statements } from './sql-loader.js';
import { inRehearsal, type Transaction } from './transaction.js';

/** Sessions, as many as partitions are worked off at once. */
const SESSIONS = 4;
/** Of each session. PostgreSQL thinks about keeping a plan after five: that it shall do when there are real rows. */
const ROUNDS = 3;
/** No round begins later: a consumer that starts again in the middle of a sale has something better to do. */
const REHEARSED_WITHIN_MS = 5_000;
/** Ids of activities count down from here; no one else's begin at the far end of the numbers. */
const LAST_ACTIVITY = 9_223_372_036_854_775_807n;
const VERSION = '1';
const HOLD_MS = 600_000;

/** About so many orders, in batches of `batch` at most. Rejects when the database does not take them, after all sessions have ended, and leaves nothing behind then either. */
export async function rehearseOrders(pool: Pool, statements: Statements, parts: OrderTransactionParts, { instance, orders, batch }: { readonly instance: RoleInstance; readonly orders: number; readonly batch: number }): Promise<void> {
  const silent: OrderTransactionParts = { ...parts, observer: silentStepObserver };
  const size = Math.min(batch, Math.ceil(orders / (SESSIONS * ROUNDS)));
  // One order a transaction, as `single` has it, is rehearsed in fewer orders: more rounds would have PostgreSQL keep plans for empty tables.
  const rounds = Math.min(ROUNDS, Math.ceil(orders / (SESSIONS * size)));
  const endsAtMs = performance.now() + REHEARSED_WITHIN_MS;
  let failed = false;
  const sessions = await Promise.allSettled(Array.from({ length: SESSIONS }, async (_, session) => {
    const activityId = String(LAST_ACTIVITY - BigInt(workerNumber(instance) * SESSIONS + session));
    // A consumer that joins cold must not have the rest of a rehearsal beside its first orders.
    for (let round = 0; round < rounds && !failed && performance.now() < endsAtMs; round += 1) {
      await inRehearsal(pool, statements, async (transaction) => {
        await openSale(transaction, activityId, size, parts.clock.nowMs());
        await decideMessages(transaction, messagesOf(activityId, size, parts.clock.nowMs()), silent);
      }).catch((error: unknown) => {
        failed = true;
        throw error;
      });
    }
  }));
  const lost = sessions.find((session) => session.status === 'rejected');
  if (lost !== undefined) throw lost.reason;
}

async function openSale(transaction: Transaction, activityId: string, stock: number, nowMs: number): Promise<void> {
  await transaction.run('seed_activity', [activityId, VERSION, nowMs - HOLD_MS, nowMs + HOLD_MS, '{}']);
  await transaction.run('seed_sku', [activityId, activityId, '1', 'CNY', stock, 1]);
  await transaction.run('seed_inventory', [activityId, activityId, stock, 1]);
  await transaction.run('seed_tokens', [activityId, activityId, stock]);
}

/** Written and read, so that they have the shape that messages have; code compiled for another would be thrown away. */
function messagesOf(activityId: string, count: number, nowMs: number): readonly OrderMessage[] {
  return Array.from({ length: count }, (_, place) => {
    const read = parseOrderMessage(encodeOrderMessage({
      schemaVersion: 1, messageId: freshId(), reservationId: freshId(), requestId: `rehearsal-${String(place)}`, activityId, activityVersion: VERSION, skuId: activityId,
      userId: String(place + 1), purchaseNo: 1, quantity: 1, payloadHash: '00'.repeat(32), reservedAtMs: nowMs, expiresAtMs: nowMs + HOLD_MS,
    }));
    if (!read.ok) throw new Error(`a rehearsal's message is malformed: ${read.problems.join(', ')}`);
    return read.message;
  });
}

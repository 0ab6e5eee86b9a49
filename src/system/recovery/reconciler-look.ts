/** One look at the three ledgers: Redis first, the topic next, PostgreSQL last, so that each later one knows what an earlier one was told. */
import type { MessageId, SkuKey } from '../../domain/ids.js';
import type { ReconciliationStore } from '../ledger/reconciliation-store.js';
import type { OrderLogReader } from '../order-log/order-log-reader.js';
import type { RoleSurroundings } from '../role.js';
import type { RedisMirror } from '../stock/mirror.js';
import { isConsumed, type Look } from './reconciliation-ledgers.js';

export interface LookTools {
  readonly mirror: RedisMirror;
  readonly store: ReconciliationStore;
  readonly reader: OrderLogReader;
  readonly surroundings: Pick<RoleSurroundings, 'log'>;
}

const CATCH_UP_MS = 10_000;

/** null: a ledger could not be read whole, so there is nothing to compare. */
export async function takeLook({ mirror, store, reader, surroundings }: LookTools, sku: SkuKey): Promise<Look | null> {
  const redis = await mirror.contents(sku);
  if (redis.outcome !== 'done') {
    surroundings.log('warn', 'Redis was not read', { reason: redis.reason });
    return null;
  }
  const topic = await reader.catchUp(sku, CATCH_UP_MS);
  if (topic === null) return null;
  const durable = await store.durable(sku);
  if (durable === null || durable === 'unknown-sku') return null;
  const rows = new Set(durable.reservations.map((row) => row.reservationId));
  const without: MessageId[] = [];
  for (const seen of topic.messages.values()) if (isConsumed(topic, seen) && !rows.has(seen.message.reservationId)) without.push(seen.message.messageId);
  const inboxed = await store.inboxed(without);
  return inboxed === null ? null : { redis: redis.value, topic, durable, inboxed };
}

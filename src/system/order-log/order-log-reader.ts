/**
 * The orders topic as a ledger: read from its beginning by a group of its own, and kept up to date. For the reconciler, which compares what the
 * topic holds with Redis and PostgreSQL.
 */
import { randomUUID } from 'node:crypto';

import type { ReservationId, SkuKey } from '../../domain/ids.js';
import type { Namespace } from '../../domain/namespace.js';
import { parseOrderMessage } from '../../domain/order-message.js';
import type { HostPort } from '../../domain/role-config.js';
import type { MessageLedger, SeenMessage } from '../recovery/reconciliation-ledgers.js';
import type { RoleSurroundings } from '../role.js';
import { createBatchConsumer } from './batch-consumer.js';
import { createKafka } from './kafka-client.js';
import type { ReceivedMessage } from './order-log-port.js';
import { rootCause } from './send-outcome.js';

export interface OrderLogReader {
  /** Reads on to the end that the topic has at the time of the call. null: the broker is away, or the end was not reached inside the bound. */
  catchUp(sku: SkuKey, boundMs: number): Promise<MessageLedger | null>;
  /** Messages of the topic that the consumer group has not worked off; null: the broker is away. */
  lag(): Promise<number | null>;
  ready(): boolean;
  readonly fatal: Promise<Error>;
  stop(): Promise<void>;
}

export interface OrderLogReaderOptions {
  readonly address: HostPort;
  readonly clientId: string;
  readonly namespace: Namespace;
  readonly sessionTimeoutMs: number;
  readonly log: RoleSurroundings['log'];
}

interface PartitionEnds {
  readonly partition: number;
  readonly low: bigint;
  readonly high: bigint;
  readonly committed: bigint;
}

const LOOK_EVERY_MS = 20;

/** Starts to read at once. Every start reads anew from the beginning: the group's name is its own and is never used again. */
export async function startOrderLogReader(options: OrderLogReaderOptions): Promise<OrderLogReader> {
  const { namespace, clientId, address, log } = options;
  const messages = new Map<ReservationId, SeenMessage>();
  const positions = new Map<number, bigint>();
  const consumer = createBatchConsumer({
    address, clientId: `${clientId}-reader`, groupId: `${namespace.id}.reconciler.${randomUUID()}`, topics: [namespace.ordersTopic],
    sessionTimeoutMs: options.sessionTimeoutMs, log,
  });
  const take = (batch: readonly ReceivedMessage[]): Promise<void> => {
    for (const { partition, offset, value } of batch) {
      const parsed = parseOrderMessage(value);
      if (parsed.ok) messages.set(parsed.message.reservationId, { message: parsed.message, partition, offset: BigInt(offset) });
      positions.set(partition, BigInt(offset) + 1n);
    }
    return Promise.resolve();
  };
  await consumer.run(take, () => undefined);

  async function ends(): Promise<readonly PartitionEnds[] | null> {
    const admin = createKafka({ address, clientId: `${clientId}-offsets`, requestTimeoutMs: 2_000, connectionTimeoutMs: 1_000, retries: 1 }).admin();
    try {
      await admin.connect();
      const offsets = await admin.fetchTopicOffsets(namespace.ordersTopic);
      const [group] = await admin.fetchOffsets({ groupId: namespace.ordersGroup, topics: [namespace.ordersTopic] });
      const committed = new Map((group?.partitions ?? []).map((entry) => [entry.partition, BigInt(entry.offset)]));
      return offsets.map(({ partition, low, high }) => {
        const next = committed.get(partition) ?? -1n;
        return { partition, low: BigInt(low), high: BigInt(high), committed: next < BigInt(low) ? BigInt(low) : next };
      });
    } catch (error) {
      log('warn', 'the offsets of the orders topic were not read', { reason: rootCause(error).message });
      return null;
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  return {
    fatal: consumer.fatal,
    ready: () => consumer.ready(),
    async lag() {
      const found = await ends();
      return found === null ? null : lagOf(found);
    },
    async catchUp(sku, boundMs) {
      const found = await ends();
      if (found === null) return null;
      const deadline = performance.now() + boundMs;
      while (!found.every(({ partition, low, high }) => high === low || (positions.get(partition) ?? 0n) >= high)) {
        if (performance.now() >= deadline) return null;
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
      return {
        messages: ofSku(messages, sku),
        committed: new Map(found.map(({ partition, committed }) => [partition, committed])),
        isWhole: found.every(({ low }) => low === 0n),
        lag: lagOf(found),
      };
    },
    stop: () => consumer.stop(),
  };
}

function lagOf(ends: readonly PartitionEnds[]): number {
  return ends.reduce((sum, { high, committed }) => sum + Number(high - committed), 0);
}

/** A copy: reading goes on. */
function ofSku(messages: ReadonlyMap<ReservationId, SeenMessage>, sku: SkuKey): ReadonlyMap<ReservationId, SeenMessage> {
  const own = new Map<ReservationId, SeenMessage>();
  for (const [reservationId, seen] of messages) if (seen.message.activityId === sku.activityId && seen.message.skuId === sku.skuId) own.set(reservationId, seen);
  return own;
}

/**
 * How far the order consumers are behind, asked of the broker: ends of the partitions and committed offsets, on an admin connection of its own that is made when
 * it is needed and thrown away when it fails.
 */
import type { Admin } from 'kafkajs';

import type { RoleAddresses, RoleConfig } from '../../../domain/role-config.js';
import { createKafka } from '../../order-log/kafka-client.js';
import { BacklogClock, type Offsets } from './backlog-clock.js';

export interface Backlog {
  readonly lag: number;
  readonly consumed: number;
  readonly oldestAgeMs: number;
}

export interface KafkaBacklog {
  /** Null: the broker did not answer. Never rejects. */
  read(): Promise<Backlog | null>;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 1_000;
const CONNECTION_TIMEOUT_MS = 500;

function offsetsOf(entries: readonly { readonly partition: number; readonly offset: string }[]): Offsets {
  return new Map(entries.map(({ partition, offset }) => [partition, Math.max(0, Number(offset))]));
}

const sum = (offsets: Offsets): number => [...offsets.values()].reduce((total, offset) => total + offset, 0);

export interface BacklogConfig extends Pick<RoleConfig, 'instance' | 'namespace' | 'tuning'> {
  readonly addresses: Pick<RoleAddresses, 'kafka'>;
}

export function createKafkaBacklog(config: BacklogConfig, nowMs: () => number = () => performance.now()): KafkaBacklog {
  const { ordersTopic: topic, ordersGroup: groupId } = config.namespace;
  const clock = new BacklogClock();
  const lookBackMs = config.tuning.funnel.admission.closeAtAgeMs;
  let admin: Admin | null = null;
  let seeded = false;
  let closed = false;

  async function connected(): Promise<Admin> {
    if (admin !== null) return admin;
    const fresh = createKafka({
      address: config.addresses.kafka, clientId: `${config.instance}-backlog`, requestTimeoutMs: REQUEST_TIMEOUT_MS, connectionTimeoutMs: CONNECTION_TIMEOUT_MS, retries: 0,
    }).admin();
    admin = fresh;
    await fresh.connect();
    return fresh;
  }

  /** What was in the log a while ago, so that a gateway that starts into a backlog does not take it for new. The broker's clock tells that once. */
  async function seed(from: Admin, atMs: number): Promise<void> {
    if (seeded) return;
    clock.note(atMs - lookBackMs, offsetsOf(await from.fetchTopicOffsetsByTimestamp(topic, Date.now() - lookBackMs)));
    seeded = true;
  }

  async function discard(): Promise<void> {
    const old = admin;
    admin = null;
    await old?.disconnect().catch(() => undefined);
  }

  return {
    async read() {
      if (closed) return null;
      try {
        const from = await connected();
        const askedAtMs = nowMs();
        await seed(from, askedAtMs);
        // One after the other: the first fills kafkajs's list of brokers, without which the second finds no coordinator.
        const ends = await from.fetchTopicOffsets(topic);
        const groups = await from.fetchOffsets({ groupId, topics: [topic] });
        const high = offsetsOf(ends.map(({ partition, high: offset }) => ({ partition, offset })));
        const committed = offsetsOf(groups.flatMap(({ partitions }) => partitions));
        clock.note(askedAtMs, high);
        return { lag: Math.max(0, sum(high) - sum(committed)), consumed: sum(committed), oldestAgeMs: clock.ageMs(nowMs(), committed) };
      } catch {
        void discard();
        return null;
      }
    },
    async close() {
      closed = true;
      await discard();
    },
  };
}

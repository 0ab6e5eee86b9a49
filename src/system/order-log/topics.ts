/**
 * The topics of one namespace, as the system needs them.
 */
import type { Admin } from 'kafkajs';

import type { HostPort } from '../../domain/role-config.js';
import type { Namespace } from '../../domain/namespace.js';
import { createKafka } from './kafka-client.js';

/** Enough for several consumers, few enough for hundreds of namespaces on one small broker. */
export const DEFAULT_PARTITIONS = 4;

const LEADER_TIMEOUT_MS = 10_000;

export interface TopicSettings {
  readonly address: HostPort;
  readonly namespace: Namespace;
  readonly partitions: number;
}

export function topicsOf(namespace: Namespace): readonly string[] {
  return [namespace.ordersTopic, namespace.eventsTopic, namespace.closesTopic, namespace.deadLettersTopic];
}

/**
 * Makes the topics where they are missing and waits until each partition takes messages. Timestamps are the broker's (LogAppendTime), so that no skewed
 * client clock gets into the evidence; nothing is deleted by age or size. Rejects with kafkajs's error when the broker cannot be used.
 */
export async function ensureTopics({ address, namespace, partitions }: TopicSettings): Promise<void> {
  const admin = createKafka({ address, clientId: `topics-${namespace.id}`, requestTimeoutMs: 10_000, connectionTimeoutMs: 2_000, retries: 5 }).admin();
  await admin.connect();
  try {
    await admin.createTopics({
      // kafkajs would wait as well, but it gives up on a broker whose metadata does not show the new topics yet; `untilLed` asks on.
      waitForLeaders: false,
      timeout: 10_000,
      topics: topicsOf(namespace).map((topic) => ({
        topic,
        numPartitions: partitions,
        replicationFactor: 1,
        configEntries: [
          { name: 'message.timestamp.type', value: 'LogAppendTime' },
          { name: 'retention.ms', value: '-1' },
          { name: 'retention.bytes', value: '-1' },
          { name: 'cleanup.policy', value: 'delete' },
        ],
      })),
    });
    for (const topic of topicsOf(namespace)) await untilLed(admin, topic);
  } finally {
    await admin.disconnect();
  }
}

/**
 * Metadata names a leader before that broker has taken the partition over, and the first messages would be refused. Offsets are told only by a
 * leader that is one; kafkajs does not retry that refusal.
 */
async function untilLed(admin: Admin, topic: string): Promise<void> {
  const deadline = performance.now() + LEADER_TIMEOUT_MS;
  for (;;) {
    try {
      await admin.fetchTopicOffsets(topic);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

/** Removes the topics; missing ones are no error. */
export async function deleteTopics(address: HostPort, namespace: Namespace): Promise<void> {
  const admin = createKafka({ address, clientId: `topics-${namespace.id}`, requestTimeoutMs: 10_000, connectionTimeoutMs: 2_000, retries: 5 }).admin();
  await admin.connect();
  try {
    const existing = new Set(await admin.listTopics());
    const topics = topicsOf(namespace).filter((topic) => existing.has(topic));
    if (topics.length > 0) await admin.deleteTopics({ topics, timeout: 10_000 });
  } finally {
    await admin.disconnect();
  }
}

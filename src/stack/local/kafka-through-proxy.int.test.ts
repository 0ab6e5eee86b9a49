// Smoke test of kafkajs against the broker: prints ApiVersions, so that a broker upgrade which drops a version is noticed, and does what
// the system does, all through one role's proxy.
import { createRequire } from 'node:module';
import { connect } from 'node:net';

import { ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

import type { RunningStack } from '../running-stack.js';
import { openStack } from '../open-stack.js';

const description = inject('stack');
const { host, port } = description.lanes[0]!.links['consumer-kafka'];
const topic = 'kafka-through-proxy';
const dialled = new Set<number>();
const kafka = new Kafka({
  clientId: topic,
  brokers: [`${host}:${port}`],
  logLevel: logLevel.NOTHING,
  socketFactory: ({ host: to, port: toPort, onConnect }) => {
    dialled.add(toPort);
    return connect({ host: to, port: toPort, noDelay: true }, onConnect);
  },
});
const admin = kafka.admin();
let stack: RunningStack;

beforeAll(async () => {
  stack = await openStack(description);
  await admin.connect();
});
afterAll(async () => {
  await admin.disconnect();
  await stack.release();
});

/** kafkajs's own highest version of each API it speaks. */
function clientVersions(): Map<number, readonly number[]> {
  const require = createRequire(import.meta.url);
  const { requests } = require('kafkajs/src/protocol/requests') as { requests: Record<string, { versions?: readonly (string | number)[] }> };
  const apiKeys = require('kafkajs/src/protocol/requests/apiKeys') as Record<string, number>;
  return new Map(Object.entries(requests).map(([name, request]) => [apiKeys[name]!, (request.versions ?? []).map(Number)]));
}

interface BrokerVersions {
  minVersion: number;
  maxVersion: number;
}

it('speaks a version of every API that kafkajs needs', async () => {
  const versions = await askApiVersions();
  const rows = [...clientVersions()].flatMap(([key, mine]) => {
    const theirs = versions.get(key);
    return theirs === undefined || mine.length === 0 ? [] : [{ key, broker: `${theirs.minVersion}-${theirs.maxVersion}`, kafkajs: `${Math.min(...mine)}-${Math.max(...mine)}` }];
  });
  console.log(rows.map((row) => `api ${row.key}: broker ${row.broker}, kafkajs ${row.kafkajs}`).join('\n'));
  expect(rows.length).toBeGreaterThan(15);
  // kafkajs takes min(its highest, the broker's highest) and never looks at the broker's lowest.
  for (const { key, broker, kafkajs } of rows) {
    const [lowest, highest] = broker.split('-').map(Number) as [number, number];
    const used = Math.min(Number(kafkajs.split('-')[1]), highest);
    expect(used, `api ${key}`).toBeGreaterThanOrEqual(lowest);
  }
});

/** ApiVersions v0, written by hand: the client keeps its answer to itself. */
function askApiVersions(): Promise<Map<number, BrokerVersions>> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => socket.write(Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0xff, 0xff])));
    let answer = Buffer.alloc(0);
    socket.on('error', reject);
    socket.on('data', (data) => {
      answer = Buffer.concat([answer, data]);
      if (answer.length < 4 || answer.length < 4 + answer.readInt32BE(0)) return;
      socket.destroy();
      const versions = new Map<number, BrokerVersions>();
      for (let index = 0, at = 14; index < answer.readInt32BE(10); index += 1, at += 6) {
        versions.set(answer.readInt16BE(at), { minVersion: answer.readInt16BE(at + 2), maxVersion: answer.readInt16BE(at + 4) });
      }
      resolve(versions);
    });
  });
}

it('creates, produces, consumes, commits and deletes, all through the proxy of the role', async () => {
  const before = await stack.link(0, 'consumer-kafka').counters();
  await admin.createTopics({ topics: [{ topic, numPartitions: 2, replicationFactor: 1 }], waitForLeaders: true });
  const described = await admin.describeConfigs({ resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: ['message.timestamp.type'] }], includeSynonyms: false });
  expect(described.resources[0]?.configEntries[0]).toMatchObject({ configName: 'message.timestamp.type', configValue: 'LogAppendTime' });

  const producer = kafka.producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const [sent] = await producer.send({ topic, acks: -1, messages: [{ key: 'k', value: 'v', partition: 1, timestamp: '1' }] });
  await producer.disconnect();
  expect(sent).toMatchObject({ partition: 1, errorCode: 0 });
  // LogAppendTime: the broker's clock, not the client's.
  expect(Number(sent?.logAppendTime)).toBeGreaterThan(1_700_000_000_000);

  const consumer = kafka.consumer({ groupId: topic, sessionTimeout: 6_000 });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  const value = await new Promise<string>((resolve, reject) => {
    consumer.run({ autoCommit: false, eachMessage: async ({ message }) => { resolve(message.value?.toString() ?? ''); } }).catch(reject);
  });
  expect(value).toBe('v');
  await consumer.commitOffsets([{ topic, partition: 1, offset: '1' }]);
  await consumer.disconnect();
  const [offsets] = await admin.fetchOffsets({ groupId: topic, topics: [topic] });
  expect(offsets?.partitions.find((partition) => partition.partition === 1)?.offset).toBe('1');

  await admin.deleteGroups([topic]);
  await admin.deleteTopics({ topics: [topic] });
  expect(await admin.listTopics()).not.toContain(topic);
  // The broker advertised the proxy to whoever came through it: no other port was ever dialled.
  expect([...dialled]).toEqual([port]);
  expect((await stack.link(0, 'consumer-kafka').counters()).downstreamSentBytes).toBeGreaterThan(before.downstreamSentBytes);
});

it('does not create a topic by itself', async () => {
  await expect(admin.fetchTopicMetadata({ topics: ['never-made'] })).rejects.toThrow();
  expect(await admin.listTopics()).not.toContain('never-made');
});

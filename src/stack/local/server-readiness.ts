/** When a server is ready: it does what it is for, asked over its direct address. */
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import type { HostPort, PostgresAddress } from '../../domain/role-config.js';
import { LabError } from '../../facts/lab-error.js';
import { KAFKA_READY } from './kafka-server.js';
import { postgresAnswers } from './postgres-server.js';

/** @param logFrom size of the log when the server was started, so that the words of an earlier start do not count. */
export type ReadinessCheck = (logFrom: number) => Promise<boolean>;

export function redisIsReady(address: HostPort): ReadinessCheck {
  // While it loads its file it answers LOADING.
  return async () => (await askRedis(address, 'PING')).startsWith('+PONG');
}

export function postgresIsReady(address: () => PostgresAddress): ReadinessCheck {
  return () => postgresAnswers(address());
}

/** The broker opens its listeners before it serves them; its log line comes after. */
export function kafkaIsReady(logFile: string): ReadinessCheck {
  return (logFrom) => Promise.resolve(logSince(logFile, logFrom).includes(KAFKA_READY));
}

const REPLICA_SYNC_LIMIT_MS = 30_000;

/** A replica that is still copying would turn a failover into a loss that no fault declared. LabError STACK_START_FAILED after 30 s. */
export async function untilReplicaFollows(replica: HostPort, lastWords: () => Promise<readonly string[]>): Promise<void> {
  const limit = Date.now() + REPLICA_SYNC_LIMIT_MS;
  while (!(await askRedis(replica, 'INFO replication')).includes('master_link_status:up')) {
    if (Date.now() > limit) throw new LabError('STACK_START_FAILED', 'the Redis replica does not follow its primary', 'npx seckill-lab doctor', { details: await lastWords() });
    await delay(20);
  }
}

/** What was logged from this byte on; empty when there is no log yet. */
export function logSince(logFile: string, from: number): string {
  try {
    return readFileSync(logFile).subarray(from).toString('utf8');
  } catch {
    return '';
  }
}

/** One command in Redis's inline form on a fresh connection; the raw answer, empty when there is none within a second. */
export function askRedis(address: HostPort, command: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: address.host, port: address.port });
    let answer = '';
    const finish = (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, finish);
    socket.on('error', finish);
    socket.on('close', finish);
    socket.on('connect', () => socket.write(`${command}\r\n`));
    socket.on('data', (data) => {
      answer += data.toString('utf8');
      if (isWhole(answer)) finish();
    });
  });
}

/** Status and error lines end with CRLF, bulk strings say their length first. */
function isWhole(answer: string): boolean {
  const bulk = /^\$(\d+)\r\n/.exec(answer);
  return bulk === null ? answer.endsWith('\r\n') : Buffer.byteLength(answer) >= bulk[0].length + Number(bulk[1]) + 2;
}

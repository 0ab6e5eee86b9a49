/** The programs and files a local stack is started from, found fast (no program is run but `java`, at most). */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { LabError } from '../../facts/lab-error.js';
import { KAFKA_VERSION } from '../cache-folder.js';
import { findJava } from '../dependencies/find-java.js';
import type { FoundJava } from '../dependencies/find-java.js';
import { findToxiproxy } from '../dependencies/find-toxiproxy.js';
import type { FoundToxiproxy } from '../dependencies/find-toxiproxy.js';
import { findRedisServer } from '../dependencies/redis-server.js';
import { findPostgresPackage } from './postgres-home.js';
import type { PostgresPackage } from './postgres-home.js';

export interface Tools {
  readonly redisServer: string;
  readonly java: FoundJava;
  /** Explicit and sorted: the class data archive is only used with the very class path it was made with. */
  readonly kafkaClassPath: string;
  readonly toxiproxy: FoundToxiproxy;
  readonly postgresPackage: PostgresPackage;
}

/** What Kafka alone needs. */
export type KafkaTools = Pick<Tools, 'java' | 'kafkaClassPath'>;

export const MINIMAL_JAVA = 17;

export function kafkaJarsFolder(cache: string): string {
  return join(cache, `kafka-${KAFKA_VERSION}`);
}

/** null when the jars are not in the cache. They come whole or not at all. */
export function kafkaClassPath(cache: string): string | null {
  const folder = kafkaJarsFolder(cache);
  if (!existsSync(folder)) return null;
  const jars = readdirSync(folder).filter((name) => name.endsWith('.jar'));
  return jars.length === 0 ? null : jars.sort().map((name) => join(folder, name)).join(':');
}

/** LabError MISSING_DEPENDENCY naming all that is missing. */
export function findTools(cache: string): Tools {
  const redisServer = findRedisServer(cache);
  const java = findJava();
  const classPath = kafkaClassPath(cache);
  const toxiproxy = findToxiproxy(cache);
  const postgresPackage = findPostgresPackage();
  if (redisServer !== null && java !== null && java.major >= MINIMAL_JAVA && classPath !== null && toxiproxy !== null && postgresPackage !== null) {
    return { redisServer, java, kafkaClassPath: classPath, toxiproxy, postgresPackage };
  }
  const missing = [
    ...(redisServer === null ? ['redis-server'] : []),
    ...(java === null ? [`Java ${String(MINIMAL_JAVA)} or later`] : java.major < MINIMAL_JAVA ? [`Java ${String(MINIMAL_JAVA)} or later (${java.version} is too old)`] : []),
    ...(classPath === null ? ['the Kafka jars'] : []),
    ...(toxiproxy === null ? ['toxiproxy-server'] : []),
    ...(postgresPackage === null ? ['the PostgreSQL package of this platform (npm ci without --omit=optional)'] : []),
  ];
  throw new LabError('MISSING_DEPENDENCY', `not installed: ${missing.join(', ')}`, 'npx seckill-lab install --with-deps');
}

/** What goes into each stand-in besides its Dockerfile: the very files that `local` runs. */
import { chmod, copyFile, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { packageRoot } from '../local/built-entry.js';
import { CLUSTER_ID, KAFKA_LOGGING } from '../local/kafka-server.js';
import { preparePostgresHome } from '../local/postgres-home.js';
import { findTools, kafkaJarsFolder } from '../local/tools.js';
import type { Tools } from '../local/tools.js';
import type { Workshop } from '../workshop.js';

export const STAND_INS = ['redis', 'postgres', 'kafka', 'toxiproxy', 'node'] as const;
export type StandIn = (typeof STAND_INS)[number];

export const BUILD_ARGUMENTS: Readonly<Record<StandIn, Readonly<Record<string, string>>>> = { redis: {}, postgres: {}, kafka: { CLUSTER_ID }, toxiproxy: {}, node: {} };

export function standInFolder(standIn: StandIn): string {
  return join(packageRoot, 'images', standIn);
}

/** Things whose change makes another image: versions and paths with versions in them. */
export function ingredientsOf(standIn: StandIn, cache: string, tools: Tools = findTools(cache)): string {
  switch (standIn) {
    case 'redis':
      return '';
    case 'postgres':
      return tools.postgresPackage.version;
    case 'kafka':
      return `${kafkaJarsFolder(cache)} ${KAFKA_LOGGING}`;
    case 'toxiproxy':
      return tools.toxiproxy.path;
    case 'node':
      return process.version;
  }
}

/** Fills the folder, which holds the Dockerfile already. */
export async function fillContext(standIn: StandIn, folder: string, workshop: Workshop): Promise<void> {
  const tools = findTools(workshop.cache);
  switch (standIn) {
    case 'redis':
      return;
    case 'postgres':
      return cp(await preparePostgresHome(workshop, tools.postgresPackage), join(folder, 'home'), { recursive: true, verbatimSymlinks: true });
    case 'kafka':
      await writeFile(join(folder, 'log4j2.properties'), KAFKA_LOGGING);
      return cp(kafkaJarsFolder(workshop.cache), join(folder, 'jars'), { recursive: true });
    case 'toxiproxy':
      await copyFile(tools.toxiproxy.path, join(folder, 'toxiproxy-server'));
      return chmod(join(folder, 'toxiproxy-server'), 0o755);
    case 'node':
      await copyFile(process.execPath, join(folder, 'node'));
      return chmod(join(folder, 'node'), 0o755);
  }
}

/** A sale of its own for one measurement of speed: a database with one SKU, topics, stock in Redis, and role processes on it without proxies between. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Client } from 'pg';
import { v7 as uuidv7 } from 'uuid';

import { namespaceOf, type Namespace } from '../../domain/namespace.js';
import type { OrderMessage } from '../../domain/order-message.js';
import { DEFAULT_TUNING, type RoleConfig, type RoleTuning, type Strategies } from '../../domain/role-config.js';
import type { RunningStack } from '../../stack/running-stack.js';
import { migrate } from '../../system/ledger/migrate.js';
import { seedActivity } from '../../system/ledger/seed.js';
import { nodeFlagsOf } from '../../system/node-flags.js';
import { deleteTopics, ensureTopics } from '../../system/order-log/topics.js';
import { connectStock } from '../../system/stock/redis-stock.js';

export const ACTIVITY_ID = '10001';
export const SKU_ID = '20001';
export const VERSION = '1';
/** Of each topic. */
export const PARTITIONS = 4;
const PRICE = '9900';
const READY_TIMEOUT_MS = 30_000;

export interface Sale {
  readonly namespace: Namespace;
  /** Direct, without time bounds. */
  readonly database: Client;
  /** `number`: of its role, from 1. */
  configOf(role: 'gateway' | 'consumer', more?: { readonly number?: number; readonly strategies?: Partial<Strategies>; readonly tuning?: Partial<RoleTuning> }): RoleConfig;
  close(): Promise<void>;
}

let sales = 0;

async function asMaintenance(stack: RunningStack, statement: string): Promise<void> {
  const client = new Client({ ...stack.description.direct.postgres, database: 'postgres' });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** `units`: in PostgreSQL. `topics`: made only where messages flow. */
export async function openSale(stack: RunningStack, { units, topics = false }: { readonly units: number; readonly topics?: boolean }): Promise<Sale> {
  sales += 1;
  const { direct, lanes } = stack.description;
  const namespace = namespaceOf(`b${Date.now().toString(36)}${String(sales)}`);
  await asMaintenance(stack, `CREATE DATABASE ${namespace.database}`);
  const database = new Client({ ...direct.postgres, database: namespace.database });
  await database.connect();
  await migrate(database);
  const now = Date.now();
  await seedActivity(database, {
    activityId: ACTIVITY_ID, version: VERSION, startAtMs: now - 60_000, endAtMs: now + 86_400_000, skuId: SKU_ID, stock: units, unitPrice: PRICE, currency: 'CNY', rules: {}, bucketCount: 1,
  });
  if (topics) await ensureTopics({ address: direct.kafka, namespace, partitions: PARTITIONS });
  const ports = lanes[0]?.rolePorts ?? [];
  return {
    namespace,
    database,
    configOf: (role, { number = 1, strategies = {}, tuning = {} } = {}) => ({
      role, instance: `${role}-${number}`, namespace, addresses: { redis: direct.redisPrimary, kafka: direct.kafka, postgres: direct.postgres },
      listen: { host: '127.0.0.1', port: ports[number - 1] ?? 0 }, activityId: ACTIVITY_ID, skuIds: [SKU_ID], strategies: { consumer: 'batch:500', allocator: 'token', ...strategies },
      tuning: { ...DEFAULT_TUNING, ...tuning },
    }),
    async close() {
      await database.end();
      if (topics) await deleteTopics(direct.kafka, namespace);
      await asMaintenance(stack, `DROP DATABASE ${namespace.database} WITH (FORCE)`);
    },
  };
}

/** Stock in Redis for the sale's SKU. */
export async function stockRedis(stack: RunningStack, { namespace }: Sale, units: number): Promise<void> {
  const stock = connectStock(stack.description.direct.redisPrimary, namespace, { commandTimeoutMs: 10_000 });
  await stock.whenConnected(5_000);
  const meta = { activityVersion: VERSION, startAtMs: 0, endAtMs: 9e12, unitPrice: PRICE, currency: 'CNY', status: 'open', epoch: '1' };
  await stock.warmUp({ activityId: ACTIVITY_ID, skuId: SKU_ID }, { stock: units, meta }).finally(() => stock.close());
}

let lastUser = 0;

/** Messages as a gateway writes them, each of a user of its own. */
export function orderMessages(count: number): OrderMessage[] {
  const reservedAtMs = Date.now();
  return Array.from({ length: count }, (): OrderMessage => {
    lastUser += 1;
    return {
      schemaVersion: 1, messageId: uuidv7(), reservationId: uuidv7(), requestId: `request-${String(lastUser)}`, activityId: ACTIVITY_ID, activityVersion: VERSION, skuId: SKU_ID,
      userId: String(9_000_000_000 + lastUser), purchaseNo: 1, quantity: 1, payloadHash: 'ab'.repeat(32), reservedAtMs, expiresAtMs: reservedAtMs + 3_600_000,
    };
  });
}

export interface RunningRoleProcess {
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

/** The role as production starts it; `core`: pinned to it. Resolves when it is healthy. */
export async function startRoleProcess(stack: RunningStack, config: RoleConfig, core: number | null = null): Promise<RunningRoleProcess> {
  const entry = fileURLToPath(new URL('../../system/main.js', import.meta.url));
  const node = [process.execPath, ...nodeFlagsOf(config)];
  const [command = '', ...first] = core === null ? node : ['taskset', '-c', String(core), ...node];
  const environment = Object.fromEntries(Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined));
  const child = await stack.spawn(command, [...first, entry], { env: { ...environment, SECKILL_ROLE_CONFIG: JSON.stringify(config) } });
  const gone = once(child, 'exit');
  const url = `http://${config.listen.host}:${String(config.listen.port)}/healthz`;
  for (const endsAt = performance.now() + READY_TIMEOUT_MS; ; ) {
    const answer = await fetch(url).catch(() => null);
    if (answer?.ok === true) break;
    if (child.exitCode !== null || performance.now() > endsAt) throw new Error(`${config.instance} did not become healthy`);
    await delay(50);
  }
  return {
    child,
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

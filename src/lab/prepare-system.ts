/**
 * Step 3, first half: an empty place for the system to run in. Database from a migrated template, activity and SKU, topics, the mirror in
 * Redis, and last of all the commit log's slot, so that it holds what the system does and nothing of the seeding.
 */
import type pg from 'pg';

import type { HostPort } from '../domain/role-config.js';
import type { StackDescription } from '../facts/stack-description.js';
import { findMutant } from '../mutants/registry.js';
import { migrate } from '../system/ledger/migrate.js';
import { seedActivity } from '../system/ledger/seed.js';
import { deleteTopics, ensureTopics } from '../system/order-log/topics.js';
import { connectStock } from '../system/stock/redis-stock.js';
import { LabError } from '../facts/lab-error.js';
import { closeCommitLog, openCommitLog } from './harvest/commit-log.js';
import type { RunPlan } from './run-plan.js';
import { directRedis, withPostgres } from './store-clients.js';

const TEMPLATE = 'seckill_template';
/** Any constant: only labs of this stack compete for it. */
const TEMPLATE_LOCK = 7_302_411;

export const ACTIVITY = { version: '1', unitPriceMinor: '9900', currency: 'CNY', epoch: '1', openForMs: 24 * 3_600_000 } as const;
const TOPIC_PARTITIONS = 4;

/** `CREATE DATABASE … TEMPLATE` copies files and takes about 50 ms; migrating anew takes ten times that. */
async function createDatabase(stack: StackDescription, database: string): Promise<void> {
  await withPostgres(stack.direct.postgres, 'postgres', async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate', [TEMPLATE]);
    if (found.rowCount === 0) await makeTemplate(client, stack);
    await client.query(`CREATE DATABASE ${database} TEMPLATE ${TEMPLATE} STRATEGY file_copy`);
    await client.query('SELECT pg_advisory_unlock($1)', [TEMPLATE_LOCK]);
  });
}

async function makeTemplate(client: pg.Client, stack: StackDescription): Promise<void> {
  // A lab that died in the middle left one that is not marked yet.
  await client.query(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await withPostgres(stack.direct.postgres, TEMPLATE, (inside) => migrate(inside));
  await client.query(`ALTER DATABASE ${TEMPLATE} WITH IS_TEMPLATE true`);
}

export async function prepareSystem(plan: RunPlan, stack: StackDescription): Promise<void> {
  const now = Date.now();
  const sku = { activityId: plan.load.activityId, skuId: plan.load.skuId };
  await Promise.all([
    createDatabase(stack, plan.namespace.database).then(() =>
      withPostgres(stack.direct.postgres, plan.namespace.database, async (client) => {
        await seedActivity(client, {
          ...sku,
          version: ACTIVITY.version,
          startAtMs: now - 60_000,
          endAtMs: now + ACTIVITY.openForMs,
          stock: plan.stock,
          unitPrice: ACTIVITY.unitPriceMinor,
          currency: ACTIVITY.currency,
          rules: plan.rules,
          bucketCount: 1,
        });
        // A wrong design may need a constraint gone, or the table would refuse what it does.
        for (const statement of plan.mutant === null ? [] : findMutant(plan.mutant).sql) await client.query(statement);
        await openCommitLog(client, plan.namespace.id);
      }),
    ),
    ensureTopics({ address: stack.direct.kafka, namespace: plan.namespace, partitions: TOPIC_PARTITIONS }),
    warmMirror(plan, stack.direct.redisPrimary, now),
  ]);
}

async function warmMirror(plan: RunPlan, address: HostPort, now: number): Promise<void> {
  const sku = { activityId: plan.load.activityId, skuId: plan.load.skuId };
  const stock = connectStock(address, plan.namespace, { connectionName: 'lab-warm-up', commandTimeoutMs: 10_000 });
  try {
    await stock.whenConnected(5_000);
    const warmed = await stock.warmUp(sku, {
      stock: plan.stock,
      meta: {
        activityVersion: ACTIVITY.version,
        startAtMs: now - 60_000,
        endAtMs: now + ACTIVITY.openForMs,
        unitPrice: ACTIVITY.unitPriceMinor,
        currency: ACTIVITY.currency,
        status: 'open',
        epoch: ACTIVITY.epoch,
      },
    });
    if (warmed.outcome !== 'done' || warmed.value.status !== 'written') {
      throw new LabError('SYSTEM_NOT_READY', `the stock could not be warmed up in Redis: ${warmed.outcome === 'done' ? warmed.value.status : warmed.reason}`, 'look at the log of redis-primary in the run folder');
    }
  } finally {
    await stock.close();
  }
}

/** Removes what the run made in shared servers: database, slot, keys, topics. For a stack that goes on living. */
export async function dropNamespace(plan: RunPlan, stack: StackDescription): Promise<void> {
  await withPostgres(stack.direct.postgres, 'postgres', async (client) => {
    await closeCommitLog(client, plan.namespace.id);
    await client.query(`DROP DATABASE IF EXISTS ${plan.namespace.database} WITH (FORCE)`);
  });
  const redis = directRedis(stack.direct.redisPrimary);
  try {
    const keys = await redis.keys(`${plan.namespace.redisPrefix}*`);
    if (keys.length > 0) await redis.unlink(...keys);
  } finally {
    redis.disconnect();
  }
  await deleteTopics(stack.direct.kafka, plan.namespace);
}

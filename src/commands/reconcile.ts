/**
 * `seckill-lab reconcile`: compares Redis, the orders topic and PostgreSQL of a running system id by id (paper `004` §12), and with `--repair` mends what
 * differs. May run while the system does; repairs are then the leader's, and a running reconciler is the leader.
 */
import { DIFFERENCE_KINDS } from '../domain/reconciliation.js';
import type { SkuKey } from '../domain/ids.js';
import { DEFAULT_TUNING, type AllocatorStrategy, type HostPort, type RoleConfig } from '../domain/role-config.js';
import { silentStepObserver } from '../domain/steps.js';
import { systemClock } from '../domain/clock.js';
import { ExitCode } from '../exit-codes.js';
import { LabError } from '../facts/lab-error.js';
import { directRedis } from '../lab/store-clients.js';
import { reconcilerPorts } from '../system/compose/reconciler.js';
import { createSteadyProducer } from '../system/order-log/steady-producer.js';
import { reconcileOnce, type OnceOutcome, type OnceTools, type Reconciled } from '../system/recovery/reconcile-once.js';
import { reconcilerRecorders } from '../system/recovery/reconciler-metrics.js';
import type { Difference } from '../system/recovery/reconciliation-look.js';
import { createRoleMetrics } from '../system/role-metrics.js';
import type { RoleSurroundings } from '../system/role.js';
import type { CommandIo } from './command-io.js';
import { reportError } from './report-error.js';
import { withRunningSystem, type RunningSystem, type SystemOptions } from './running-system.js';

export interface ReconcileOptions extends SystemOptions {
  readonly repair?: boolean;
  /** Milliseconds that an id may be on its way; two looks are this far apart. */
  readonly graceMs?: string;
  readonly json?: boolean;
}

const GRACE_MS = 3_000;
const READY_BOUND_MS = 15_000;
/** Ids shown of each kind; `--json` has them all. */
const SHOWN = 10;

/** 0: no differences (left); 1: there are; 2: it could not look; 254: bad options. */
export async function runReconcile(options: ReconcileOptions, io: CommandIo): Promise<number> {
  try {
    const graceMs = options.graceMs === undefined ? GRACE_MS : Number(options.graceMs);
    if (!Number.isInteger(graceMs) || graceMs < 100 || graceMs > 600_000) throw new LabError('USAGE', `--grace-ms ${String(options.graceMs)}: is a whole number from 100 to 600000`, 'see `seckill-lab reconcile --help`');
    return await withRunningSystem(options, (system) => reconcile(system, { graceMs, repair: options.repair === true, json: options.json === true }, io));
  } catch (error) {
    return reportError(error, io);
  }
}

interface Asked {
  readonly graceMs: number;
  readonly repair: boolean;
  readonly json: boolean;
}

async function reconcile(system: RunningSystem, asked: Asked, io: CommandIo): Promise<number> {
  const { rows: skus } = await system.client.query<{ activity_id: string; sku_id: string }>('SELECT activity_id, sku_id FROM seckill_sku ORDER BY 1, 2');
  const config = await configOf(system, skus.map((sku) => ({ activityId: sku.activity_id, skuId: sku.sku_id })));
  const tools = await openTools(config, io);
  try {
    const results: { readonly sku: SkuKey; readonly result: Reconciled }[] = [];
    for (const { activity_id: activityId, sku_id: skuId } of skus) {
      const sku = { activityId, skuId };
      results.push({ sku, result: resultOf(await reconcileOnce(tools, sku, asked)) });
    }
    io.stdout(asked.json ? `${JSON.stringify(results.map(({ sku, result }) => ({ ...sku, ...result })), null, 2)}\n` : results.map(({ sku, result }) => textOf(sku, result, asked.repair)).join(''));
    return results.every(({ result }) => result.left.length === 0) ? ExitCode.green : ExitCode.violated;
  } finally {
    await Promise.all([tools.mirror.close(), tools.store.close(), tools.reader.stop(), tools.producer.close()]);
  }
}

function resultOf(once: OnceOutcome): Reconciled {
  switch (once.outcome) {
    case 'looked':
      return once.result;
    case 'store-away':
      throw new LabError('STACK_GONE', 'a store did not answer, so there was nothing to compare', 'see the lines above; `seckill-lab doctor` checks the machine');
    case 'another-leads':
      throw new LabError('SYSTEM_NOT_READY', 'a reconciler of the system is running and makes the repairs itself', 'leave --repair out, or stop that role');
    case 'lease-lost':
      throw new LabError('SYSTEM_NOT_READY', `the lead was lost after ${String(once.applied)} repairs: a reconciler of the system has taken it, or PostgreSQL was away`, 'leave --repair out, or stop that role; then try again');
    case 'needs-rebuild':
      throw new LabError('SYSTEM_NOT_READY', `Redis cannot be compared: ${once.mirror.verdict === 'rebuild' ? once.mirror.cause : once.mirror.verdict}`, 'start the role reconciler: it rebuilds Redis from durable facts');
  }
}

async function configOf({ stack, namespace, client }: RunningSystem, skus: readonly SkuKey[]): Promise<RoleConfig> {
  const [first] = skus;
  if (first === undefined) throw new LabError('SYSTEM_NOT_READY', 'the system sells nothing: there is no SKU', 'seed an activity first');
  return {
    role: 'reconciler', instance: 'reconciler-0', namespace, activityId: first.activityId, skuIds: skus.map(({ skuId }) => skuId),
    listen: { host: '127.0.0.1', port: 0 },
    strategies: { consumer: 'single', allocator: await allocatorOf(client) },
    tuning: DEFAULT_TUNING,
    addresses: { redis: await primaryOf(stack.direct), kafka: stack.direct.kafka, postgres: stack.direct.postgres },
  };
}

/** The stock is kept twice, as rows and as tokens, and only the allocator of the system moves its own. */
async function allocatorOf(client: RunningSystem['client']): Promise<AllocatorStrategy> {
  const { rows } = await client.query<{ by_row: boolean }>('SELECT EXISTS (SELECT 1 FROM sku_inventory WHERE allocated_stock > 0) AS by_row');
  return rows[0]?.by_row === true ? 'row' : 'token';
}

/** After a failover the replica of the stack file is the primary. */
async function primaryOf({ redisPrimary, redisReplica }: RunningSystem['stack']['direct']): Promise<HostPort> {
  for (const address of [redisPrimary, redisReplica]) {
    const redis = directRedis(address);
    try {
      const role: unknown = await redis.role();
      if (Array.isArray(role) && role[0] === 'master') return address;
    } catch {
      // The other one, then.
    } finally {
      redis.disconnect();
    }
  }
  throw new LabError('STACK_GONE', 'no Redis of the stack answers as primary', 'start the stack again with `npx seckill-lab up`');
}

async function openTools(config: RoleConfig, io: CommandIo): Promise<OnceTools> {
  const surroundings: RoleSurroundings = {
    clock: systemClock, observer: silentStepObserver,
    log: (level, text, fields) => {
      if (level !== 'info') io.stderr(`reconcile: ${text}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}\n`);
    },
  };
  const ports = await reconcilerPorts(config, surroundings);
  const producer = createSteadyProducer({ address: config.addresses.kafka, clientId: 'reconcile', topics: [config.namespace.ordersTopic], budgetMs: 2_000, log: () => undefined });
  const tools: OnceTools = { ...ports, producer, ordersTopic: config.namespace.ordersTopic, surroundings, recorders: reconcilerRecorders(createRoleMetrics('reconciler', 'reconcile')) };
  const deadline = performance.now() + READY_BOUND_MS;
  while (!(ports.reader.ready() && (await ports.mirror.ready()))) {
    if (performance.now() > deadline) {
      await Promise.all([tools.mirror.close(), tools.store.close(), tools.reader.stop(), producer.close()]);
      throw new LabError('STACK_GONE', `Kafka or Redis of the stack was not ready within ${String(READY_BOUND_MS)} ms`, 'start the stack again with `npx seckill-lab up`');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return tools;
}

function textOf({ activityId, skuId }: SkuKey, { found, left, applied }: Reconciled, repair: boolean): string {
  const lines = [`activity ${activityId}, SKU ${skuId}: ${found.length === 0 ? 'no differences' : `${String(found.length)} differences`}${repair && found.length > 0 ? `, ${String(applied)} repairs made, ${String(left.length)} left` : ''}`, ...byKind(found)];
  if (repair && left.length > 0) lines.push('left:', ...byKind(left));
  return `${lines.join('\n')}\n`;
}

function byKind(differences: readonly Difference[]): readonly string[] {
  const kinds = [...new Set(differences.map(({ kind }) => kind))];
  return kinds.flatMap((kind) => {
    const own = differences.filter((difference) => difference.kind === kind);
    const shown = own.slice(0, SHOWN).map(({ subject, seen, repair }) => `    ${subject}: ${seen}${repair === null ? ' (needs a human)' : ''}`);
    return [`  ${kind} ${String(own.length)}: ${DIFFERENCE_KINDS[kind]}`, ...shown, ...(own.length > SHOWN ? [`    and ${String(own.length - SHOWN)} more`] : [])];
  });
}

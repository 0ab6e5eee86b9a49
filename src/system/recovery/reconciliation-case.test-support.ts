/** For integration tests of reconciliation: a namespace with its roles in this process, buyers, and the reconciler's own ports. */
import { randomBytes } from 'node:crypto';

import { Redis } from 'ioredis';
import pg from 'pg';
import { expect, inject } from 'vitest';

import type { SkuKey } from '../../domain/ids.js';
import { namespaceOf, type Namespace } from '../../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig, type RoleTuning } from '../../domain/role-config.js';
import type { RoleName } from '../../domain/roles.js';
import { silentStepObserver } from '../../domain/steps.js';
import { composeGatewayCore } from '../compose/gateway.js';
import { reconcilerPorts } from '../compose/reconciler.js';
import { composeRole } from '../compose.js';
import type { GatewayAnswer } from '../gateway/answers.js';
import type { GatewayCore } from '../gateway/start-gateway.js';
import { migrate } from '../ledger/migrate.js';
import { seedActivity } from '../ledger/seed.js';
import { createSteadyProducer } from '../order-log/steady-producer.js';
import { deleteTopics, ensureTopics } from '../order-log/topics.js';
import { createRoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import { stockKeys, type StockKeys } from '../stock/keys.js';
import { connectStock } from '../stock/redis-stock.js';
import { reconcileOnce, type OnceOutcome, type OnceTools } from './reconcile-once.js';
import { reconcilerRecorders } from './reconciler-metrics.js';

export const SKU: SkuKey = { activityId: '7', skuId: '70' };
export const GRACE_MS = 300;

export interface CaseOptions {
  readonly stock: number;
  readonly rules?: object;
  readonly tuning?: Partial<RoleTuning>;
  readonly roles?: readonly RoleName[];
  /** Through the proxies of this lane instead of straight to Redis. */
  readonly redisThroughLane?: number;
}

export class ReconciliationCase implements AsyncDisposable {
  readonly namespace: Namespace = namespaceOf(`k${randomBytes(6).toString('hex')}`);
  readonly stack = inject('stack');
  readonly options: CaseOptions;
  readonly tuning: RoleTuning;
  readonly keys: StockKeys;
  /** The Redis that is read and tampered with; a failover puts another in its place. */
  redis: Redis;
  pg!: pg.Client;
  gateway!: GatewayCore;
  tools!: OnceTools;
  readonly roles = new Map<RoleName, RunningRole>();
  readonly #surroundings: RoleSurroundings = { clock: { nowMs: () => Date.now() }, observer: silentStepObserver, log: () => undefined };

  private constructor(options: CaseOptions) {
    this.options = options;
    this.tuning = {
      ...DEFAULT_TUNING, warmUpRequests: 0, resendAfterMs: 300, scannerIntervalMs: 100,
      reconciler: { ...DEFAULT_TUNING.reconciler, checkIntervalMs: 50, passIntervalMs: 100, graceMs: GRACE_MS, reopenSteps: 4, reopenStepMs: 50, drainPatienceMs: 3_000 },
      ...options.tuning,
    };
    this.keys = stockKeys(this.namespace.redisPrefix, SKU);
    this.redis = new Redis({ ...this.stack.direct.redisPrimary });
  }

  static async open(options: CaseOptions): Promise<ReconciliationCase> {
    const opened = new ReconciliationCase(options);
    await opened.#prepare();
    const names = options.roles ?? ['consumer', 'scanner', 'relay', 'projector'];
    for (const name of names) await opened.start(name);
    opened.gateway = composeGatewayCore(opened.config('gateway'), { log: () => undefined });
    await expect.poll(async () => (await Promise.all([...opened.roles.values(), opened.gateway].map((role) => role.health()))).flat(), { timeout: 20_000 }).toEqual([]);
    const config = opened.config('reconciler');
    const ports = await reconcilerPorts(config, opened.#surroundings);
    const producer = createSteadyProducer({ address: config.addresses.kafka, clientId: 'case', topics: [opened.namespace.ordersTopic], budgetMs: 2_000, log: () => undefined });
    opened.tools = {
      ...ports, producer, ordersTopic: opened.namespace.ordersTopic, surroundings: opened.#surroundings,
      recorders: reconcilerRecorders(createRoleMetrics('reconciler', 'case')),
    };
    await expect.poll(() => ports.reader.ready(), { timeout: 20_000 }).toBe(true);
    return opened;
  }

  config(role: RoleName): RoleConfig {
    const { direct, lanes } = this.stack;
    const lane = this.options.redisThroughLane === undefined ? undefined : lanes[this.options.redisThroughLane];
    const redis = lane?.links[`${role}-redis`] ?? direct.redisPrimary;
    return {
      role, instance: `${role}-1`, namespace: this.namespace, activityId: SKU.activityId, skuIds: [SKU.skuId], listen: { host: '127.0.0.1', port: 0 },
      strategies: { consumer: 'batch:100', allocator: 'token' }, tuning: this.tuning,
      addresses: { redis, kafka: direct.kafka, postgres: direct.postgres },
    };
  }

  async start(role: RoleName): Promise<void> {
    this.roles.set(role, await composeRole(this.config(role), { log: () => undefined }));
  }

  async stop(role: RoleName): Promise<void> {
    await this.roles.get(role)?.stop();
    this.roles.delete(role);
  }

  async buy(requestId: string, userId: string): Promise<GatewayAnswer> {
    return this.gateway.submit({ ...SKU, requestId, userId, body: '{"quantity":1}' });
  }

  /** Users 1…n with requests r1…rn; resolves when each has an order and Redis says so. */
  async ordersFor(count: number, first = 1): Promise<void> {
    const numbers = Array.from({ length: count }, (_value, index) => String(first + index));
    await Promise.all(numbers.map((number) => this.buy(`r${number}`, number)));
    await this.settled();
  }

  /** Nothing is on its way, and what has arrived is older than the grace. */
  async settled(): Promise<void> {
    await expect.poll(async () => ({
      pending: await this.redis.zcard(this.keys.pending),
      unsent: await this.count(`SELECT count(*)::int AS n FROM event_outbox WHERE status <> 20 AND available_at <= now()`),
      young: await this.count(`SELECT count(*)::int AS n FROM inventory_reservation WHERE now() - updated_at <= interval '${String(GRACE_MS)} ms'`),
    }), { timeout: 20_000 }).toEqual({ pending: 0, unsent: 0, young: 0 });
  }

  async count(sql: string): Promise<number> {
    return (await this.pg.query<{ n: number }>(sql)).rows[0]?.n ?? -1;
  }

  async stockLeft(): Promise<number> {
    const [stock, held] = [await this.redis.get(this.keys.stock), await this.redis.hget(this.keys.meta, 'heldBack')];
    return Number(stock) + Number(held ?? '0');
  }

  async reconcile(repair: boolean): Promise<Extract<OnceOutcome, { outcome: 'looked' }>['result']> {
    const once = await reconcileOnce(this.tools, SKU, { repair, graceMs: GRACE_MS });
    if (once.outcome !== 'looked') throw new Error(JSON.stringify(once));
    return once.result;
  }

  async #prepare(): Promise<void> {
    const { direct } = this.stack;
    const admin = new pg.Client({ ...direct.postgres, database: 'postgres' });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${this.namespace.database}`);
    await admin.end();
    this.pg = new pg.Client({ ...direct.postgres, database: this.namespace.database });
    await this.pg.connect();
    const now = Date.now();
    const window = { startAtMs: now - 60_000, endAtMs: now + 600_000 };
    await migrate(this.pg);
    await seedActivity(this.pg, { ...SKU, ...window, version: '1', stock: this.options.stock, unitPrice: '100', currency: 'CNY', rules: this.options.rules ?? { restockOnCancel: true, rebuyAfterCancel: false }, bucketCount: 1 });
    await ensureTopics({ address: direct.kafka, namespace: this.namespace, partitions: 2 });
    const mirror = connectStock(direct.redisPrimary, this.namespace);
    await mirror.whenConnected(5_000);
    await mirror.warmUp(SKU, { stock: this.options.stock, meta: { ...window, activityVersion: '1', unitPrice: '100', currency: 'CNY', status: 'open', epoch: '1' } });
    await mirror.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.roles.values()].map((role) => role.stop()));
    await this.gateway.close();
    await Promise.all([this.tools.mirror.close(), this.tools.store.close(), this.tools.reader.stop(), this.tools.producer.close()]);
    await this.pg.end();
    const { direct } = this.stack;
    const admin = new pg.Client({ ...direct.postgres, database: 'postgres' });
    await admin.connect();
    await admin.query(`DROP DATABASE IF EXISTS ${this.namespace.database} WITH (FORCE)`);
    await admin.end();
    const keys = await this.redis.keys(`${this.namespace.redisPrefix}*`);
    if (keys.length > 0) await this.redis.del(...keys);
    this.redis.disconnect();
    await deleteTopics(direct.kafka, this.namespace);
  }
}

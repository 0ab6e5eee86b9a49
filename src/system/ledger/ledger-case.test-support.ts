/** One database per test: migrated, seeded, dropped at the end. Loans what a test of the PostgreSQL side needs. */
import { randomBytes } from 'node:crypto';

import { Client } from 'pg';
import { Toxiproxy, type Proxy } from 'toxiproxy-node-client';
import { v7 as uuidv7 } from 'uuid';
import { inject } from 'vitest';

import { systemClock } from '../../domain/clock.js';
import { namespaceOf } from '../../domain/namespace.js';
import type { OrderMessage } from '../../domain/order-message.js';
import { DEFAULT_TUNING, type AllocatorStrategy, type ConsumerStrategy, type RoleConfig, type RoleTuning } from '../../domain/role-config.js';
import type { RoleInstance } from '../../domain/roles.js';
import { silentStepObserver, type StepName, type StepObserver } from '../../domain/steps.js';
import { createRoleMetrics, type RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings } from '../role.js';
import type { OrderLedger, TransactionOutcome } from './ledger-port.js';
import { migrate } from './migrate.js';
import { createOrderLedger, type LedgerOverrides } from './order-ledger.js';
import { seedActivity } from './seed.js';

export const ACTIVITY = '7';
export const SKU = '9007199254740995';
export const VERSION = '3';

export interface CaseOptions {
  readonly stock: number;
  readonly rules?: Partial<Readonly<Record<'restockOnCancel' | 'rebuyAfterCancel', boolean>>>;
  readonly allocator?: AllocatorStrategy;
  readonly consumer?: ConsumerStrategy;
  readonly tuning?: Partial<RoleTuning>;
}

export interface LedgerSpec {
  readonly instance?: RoleInstance;
  readonly observer?: StepObserver;
  readonly overrides?: LedgerOverrides;
  /** Through the consumer's Toxiproxy instead of directly. */
  readonly throughProxy?: boolean;
  readonly allocator?: AllocatorStrategy;
}

export class LedgerCase implements AsyncDisposable {
  /** Direct connection to the case's database, without time bounds. */
  readonly client: Client;
  readonly config: RoleConfig;
  readonly logs: { readonly level: string; readonly text: string; readonly fields: unknown }[] = [];
  readonly metrics: RoleMetrics = createRoleMetrics('test', 'test-1');
  readonly #closing: (() => Promise<void>)[] = [];

  constructor(client: Client, config: RoleConfig) {
    this.client = client;
    this.config = config;
  }

  surroundings(observer: StepObserver = silentStepObserver): RoleSurroundings {
    return {
      clock: systemClock,
      observer,
      log: (level, text, fields) => {
        this.logs.push({ level, text, fields });
      },
    };
  }

  configFor(spec: LedgerSpec): RoleConfig {
    const postgres = spec.throughProxy === true ? { ...this.config.addresses.postgres, ...consumerLink().address } : this.config.addresses.postgres;
    return {
      ...this.config,
      instance: spec.instance ?? this.config.instance,
      addresses: { ...this.config.addresses, postgres },
      strategies: { ...this.config.strategies, allocator: spec.allocator ?? this.config.strategies.allocator },
    };
  }

  /** Closed with the case. */
  ledger(spec: LedgerSpec = {}): OrderLedger {
    const ledger = createOrderLedger(this.configFor(spec), this.surroundings(spec.observer), { metrics: this.metrics, ...spec.overrides });
    this.closeAtEnd(() => ledger.close());
    return ledger;
  }

  closeAtEnd(close: () => Promise<void>): void {
    this.#closing.push(close);
  }

  /** First row of a query. */
  async one<Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row> {
    const { rows } = await this.client.query<Row>(text, values);
    if (rows[0] === undefined) throw new Error(`no row: ${text}`);
    return rows[0];
  }

  async count(table: string, where = 'true'): Promise<number> {
    return (await this.one<{ n: number }>(`select count(*)::int as n from ${table} where ${where}`)).n;
  }

  /** Events of the Outbox without the timers of orders. */
  events(): Promise<number> {
    return this.count('event_outbox', "tag <> 'ORDER_CLOSE_DUE'");
  }

  /** Sum of a metric's series that carry `label`, such as `cause="40P01"`. */
  async metric(name: string, label = ''): Promise<number> {
    const lines = (await this.metrics.text()).split('\n').filter((line) => line.startsWith(`${name}{`) && line.includes(label));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** Units held, by the allocator that counts. */
  async held(): Promise<number> {
    return this.config.strategies.allocator === 'token'
      ? this.count('inventory_token', 'status <> 0')
      : (await this.one<{ n: number }>('select sum(allocated_stock)::int as n from sku_inventory')).n;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing.toReversed()) await close();
    await this.client.end();
    await withMaintenance(async (client) => {
      await client.query(`drop database ${this.config.namespace.database} with (force)`);
    });
  }
}

async function withMaintenance(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ ...inject('stack').direct.postgres, database: 'postgres' });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** A database with one activity of one SKU. */
export async function openCase(options: CaseOptions): Promise<LedgerCase> {
  const { direct } = inject('stack');
  const namespace = namespaceOf(`l${randomBytes(6).toString('hex')}`);
  await withMaintenance(async (client) => {
    await client.query(`create database ${namespace.database}`);
  });
  const client = new Client({ ...direct.postgres, database: namespace.database });
  await client.connect();
  await migrate(client);
  await seedActivity(client, {
    activityId: ACTIVITY, version: VERSION, startAtMs: Date.now() - 60_000, endAtMs: Date.now() + 3_600_000,
    skuId: SKU, stock: options.stock, unitPrice: '9900', currency: 'CNY', rules: options.rules ?? {}, bucketCount: 1,
  });
  return new LedgerCase(client, {
    role: 'consumer',
    instance: 'consumer-1',
    namespace,
    addresses: { redis: direct.redisPrimary, kafka: direct.kafka, postgres: direct.postgres },
    listen: { host: '127.0.0.1', port: 0 },
    activityId: ACTIVITY,
    skuIds: [SKU],
    strategies: { consumer: options.consumer ?? 'batch:500', allocator: options.allocator ?? 'token' },
    tuning: { ...DEFAULT_TUNING, ...options.tuning },
  });
}

let lastUser = 9_007_199_254_741_000n;

/** A message of a user of its own; every id can be given. User ids are above 2^53 on purpose. */
export function message(given: Partial<OrderMessage> = {}): OrderMessage {
  lastUser += 1n;
  return {
    schemaVersion: 1,
    messageId: uuidv7(),
    reservationId: uuidv7(),
    requestId: `request-${lastUser.toString()}`,
    activityId: ACTIVITY,
    activityVersion: VERSION,
    skuId: SKU,
    userId: lastUser.toString(),
    purchaseNo: 1,
    quantity: 1,
    payloadHash: 'ab'.repeat(32),
    reservedAtMs: Date.now(),
    expiresAtMs: Date.now() + 300_000,
    ...given,
  };
}

export function messages(count: number): OrderMessage[] {
  return Array.from({ length: count }, () => message());
}

/** Results of a transaction that must have committed. */
export function committed(outcome: TransactionOutcome): { readonly result: string; readonly orderId: string | null; readonly repeated: boolean }[] {
  if (outcome.outcome !== 'committed') throw new Error(`${outcome.outcome}: ${outcome.reason}`);
  return outcome.results.map(({ result, orderId, repeated }) => ({ result, orderId, repeated }));
}

export function resultsOf(outcome: TransactionOutcome): string[] {
  return committed(outcome).map(({ result }) => result);
}

/** Calls `act` at each hit of one step. */
export function atStep(step: StepName, act: (hit: number) => void | Promise<void>): StepObserver {
  let hits = 0;
  return {
    reached: (reached) => {
      if (reached !== step) return undefined;
      hits += 1;
      return act(hits);
    },
  };
}

/** The consumer's link to PostgreSQL in lane 0 and its proxy. */
export function consumerLink(): { readonly address: { readonly host: string; readonly port: number }; proxy(): Promise<Proxy> } {
  const { lanes, direct } = inject('stack');
  const [lane] = lanes;
  if (lane === undefined) throw new Error('the stack has no lane');
  const toxiproxy = new Toxiproxy(`http://${direct.toxiproxyApi.host}:${String(direct.toxiproxyApi.port)}`);
  return { address: lane.links['consumer-postgres'], proxy: () => toxiproxy.get(lane.proxies['consumer-postgres']) };
}

/**
 * Redis as the reconciler sees it: whole ledgers read in pages, repairs as deltas, and the rebuild. A connection of its own, whose calls may
 * take longer than a buyer's.
 */
import type { RequestId, SkuKey, UserId } from '../../domain/ids.js';
import type { Namespace } from '../../domain/namespace.js';
import type { HostPort } from '../../domain/role-config.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { CallResult } from './call-failure.js';
import { epochNumber, runIdOf } from './epoch-guard.js';
import { openConnection, whenReady } from './redis-connection.js';
import { loadScripts } from './script-loader.js';
import { bindStock, type StockConnection } from './stock-connection.js';
import type { SkuMeta } from './stock-port.js';
import { adjust, rebuildBegin, rebuildFinish, rebuildPage, rebuildRelease, type AdjustOutcome, type MirrorChange, type RebuildPage, type RebuildTotals } from './mirror-scripts.js';

/** What this Redis says about itself and the SKU. */
export interface MirrorState {
  /** Run id of the server that answers. */
  readonly serverRunId: string;
  /** Run id that warm-up or the last rebuild wrote; null: there is no meta. */
  readonly runId: string | null;
  readonly epoch: number;
  readonly status: string | null;
  readonly heldBack: number;
  /** The stock key is there. */
  readonly hasStock: boolean;
}

/** Numbers that belong to one instant. */
export interface CounterReading {
  readonly stock: number | null;
  readonly heldBack: number;
  /** Records in the requests hash. */
  readonly records: number;
  readonly epoch: number;
  readonly nowMs: number;
}

/** Raw contents, in packed form. */
export interface MirrorContents {
  readonly before: CounterReading;
  readonly after: CounterReading;
  readonly records: ReadonlyMap<RequestId, string>;
  readonly users: ReadonlyMap<UserId, RequestId>;
  readonly pending: ReadonlySet<RequestId>;
}

export interface RedisMirror {
  state(sku: SkuKey): Promise<CallResult<MirrorState>>;
  /** Everything of the SKU, read in pages while it goes on changing: pending first, then marks, then records. */
  contents(sku: SkuKey): Promise<CallResult<MirrorContents>>;
  adjust(sku: SkuKey, change: MirrorChange): Promise<CallResult<AdjustOutcome>>;
  rebuildBegin(sku: SkuKey, token: number): Promise<CallResult<'paused' | 'fenced'>>;
  rebuildPage(sku: SkuKey, token: number, page: RebuildPage): Promise<CallResult<'written' | 'fenced'>>;
  rebuildFinish(sku: SkuKey, token: number, units: number, meta: SkuMeta): Promise<CallResult<{ readonly runId: string } | 'fenced'>>;
  rebuildRelease(sku: SkuKey, epoch: number, units: number): Promise<CallResult<RebuildTotals | 'other-epoch'>>;
  whenConnected(timeoutMs: number): Promise<boolean>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

export interface MirrorOptions {
  readonly connectionName: string;
  readonly metrics?: RoleMetrics;
}

/** A page of a few thousand records, or a page of a rebuild, takes some milliseconds; a slow machine some more. */
const COMMAND_TIMEOUT_MS = 2_000;
const SCAN_PAGE = 1_000;

/** Starts to connect and returns at once. Throws only if a script is missing. */
export function connectMirror(address: HostPort, namespace: Namespace, options: MirrorOptions): RedisMirror {
  const redis = openConnection(address, { name: options.connectionName, commandTimeoutMs: COMMAND_TIMEOUT_MS });
  const connection = bindStock(redis, namespace.redisPrefix, loadScripts(), options.metrics ?? null);
  return {
    state: (sku) => readState(connection, sku),
    contents: (sku) => readContents(connection, sku),
    adjust: (sku, change) => adjust(connection, sku, change),
    rebuildBegin: (sku, token) => rebuildBegin(connection, sku, token),
    rebuildPage: (sku, token, page) => rebuildPage(connection, sku, token, page),
    rebuildFinish: (sku, token, units, meta) => rebuildFinish(connection, sku, token, units, meta),
    rebuildRelease: (sku, epoch, units) => rebuildRelease(connection, sku, epoch, units),
    whenConnected: (timeoutMs) => whenReady(redis, timeoutMs),
    async ready() {
      const role = await connection.command('role', () => redis.role());
      return role.outcome === 'done' && Array.isArray(role.value) && role.value[0] === 'master';
    },
    close() {
      redis.disconnect();
      return Promise.resolve();
    },
  };
}

async function readState(connection: StockConnection, sku: SkuKey): Promise<CallResult<MirrorState>> {
  const keys = connection.keys(sku);
  const { redis } = connection;
  const [meta, stock, server] = await Promise.all([
    connection.command('meta', () => redis.hmget(keys.meta, 'runId', 'epoch', 'status', 'heldBack')),
    connection.command('stock', () => redis.exists(keys.stock)),
    connection.command('run-id', () => redis.info('server')),
  ]);
  if (meta.outcome !== 'done') return meta;
  if (stock.outcome !== 'done') return stock;
  if (server.outcome !== 'done') return server;
  const [runId, epoch, status, heldBack] = meta.value;
  return {
    outcome: 'done',
    value: {
      serverRunId: runIdOf(server.value),
      runId: runId ?? null,
      epoch: epochNumber(epoch ?? ''),
      status: status ?? null,
      heldBack: Number(heldBack ?? '0'),
      hasStock: stock.value === 1,
    },
  };
}

async function readCounters(connection: StockConnection, sku: SkuKey): Promise<CallResult<CounterReading>> {
  const keys = connection.keys(sku);
  const { redis } = connection;
  const result = await connection.command('counters', () => redis.multi().get(keys.stock).hlen(keys.requests).hmget(keys.meta, 'heldBack', 'epoch').time().exec());
  if (result.outcome !== 'done') return result;
  const replies = (result.value ?? []).map(([error, value]) => (error === null ? value : null)) as [string | null, number, (string | null)[], [string | number, string | number]];
  const [stock, records, meta, time] = replies;
  const left = stock === null ? null : Number(stock);
  return {
    outcome: 'done',
    value: {
      stock: left !== null && Number.isSafeInteger(left) ? left : null,
      records,
      heldBack: Number(meta[0] ?? '0'),
      epoch: epochNumber(meta[1] ?? ''),
      nowMs: Number(time[0]) * 1_000 + Math.floor(Number(time[1]) / 1_000),
    },
  };
}

/**
 * The order matters under live traffic: an entry or a mark is made together with its record, so what was seen in the index or among the
 * marks must be seen among the records afterwards.
 */
async function readContents(connection: StockConnection, sku: SkuKey): Promise<CallResult<MirrorContents>> {
  const keys = connection.keys(sku);
  const { redis } = connection;
  const before = await readCounters(connection, sku);
  if (before.outcome !== 'done') return before;
  const pending = await scanAll(connection, (cursor) => redis.zscan(keys.pending, cursor, 'COUNT', SCAN_PAGE));
  if (pending.outcome !== 'done') return pending;
  const users = await scanAll(connection, (cursor) => redis.hscan(keys.users, cursor, 'COUNT', SCAN_PAGE));
  if (users.outcome !== 'done') return users;
  const records = await scanAll(connection, (cursor) => redis.hscan(keys.requests, cursor, 'COUNT', SCAN_PAGE));
  if (records.outcome !== 'done') return records;
  const after = await readCounters(connection, sku);
  if (after.outcome !== 'done') return after;
  return { outcome: 'done', value: { before: before.value, after: after.value, records: records.value, users: users.value, pending: new Set(pending.value.keys()) } };
}

/** Pairs of a scan; one that is there from beginning to end comes at least once, and the last one seen counts. */
async function scanAll(connection: StockConnection, scan: (cursor: string) => Promise<[string, string[]]>): Promise<CallResult<ReadonlyMap<string, string>>> {
  const pairs = new Map<string, string>();
  let cursor = '0';
  do {
    const page = await connection.command('scan', () => scan(cursor));
    if (page.outcome !== 'done') return page;
    const [next, flat] = page.value;
    for (let index = 0; index + 1 < flat.length; index += 2) pairs.set(flat[index] ?? '', flat[index + 1] ?? '');
    cursor = next;
  } while (cursor !== '0');
  return { outcome: 'done', value: pairs };
}

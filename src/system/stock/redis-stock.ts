/** The stock on a real Redis: one connection, one script per operation, an epoch guard in front of reserving. */
import type { SkuKey } from '../../domain/ids.js';
import type { Namespace } from '../../domain/namespace.js';
import type { RoleAddresses } from '../../domain/role-config.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { CallResult } from './call-failure.js';
import { claimPending } from './claim-pending.js';
import { createEntryBook, type EntryBook } from './entry-book.js';
import { createEpochGuard } from './epoch-guard.js';
import { lookup, readMeta, scanRecords, type RecordPage } from './lookup.js';
import { markSent } from './mark-sent.js';
import { project } from './project.js';
import { openConnection, whenReady } from './redis-connection.js';
import { reserve } from './reserve.js';
import { loadScripts, type ScriptName } from './script-loader.js';
import { bindStock } from './stock-connection.js';
import { stockFigures } from './stock-figures.js';
import type { StockPort, WarmUp } from './stock-port.js';
import { createStockView, type StockView } from './stock-view.js';
import { warmUp, type WarmUpResult } from './warm-up.js';

export interface StockOptions {
  /** Shown by `CLIENT LIST`; the role instance by convention. */
  readonly connectionName?: string;
  /** Deadline of every call. `RoleTuning.reserveTimeoutMs` for the gateway. */
  readonly commandTimeoutMs?: number;
  /** `RoleTuning.resendAfterMs`: a new reservation comes due for the scanner after this. */
  readonly resendAfterMs?: number;
  /** `FunnelTuning.soldOutMarkMs` where gateways keep sold-out marks; 0, the default, where they do not. */
  readonly soldOutMarkMs?: number;
  /** A reservation whose message the broker confirmed comes due after this. Default: five times `resendAfterMs`. */
  readonly recheckSentAfterMs?: number;
  readonly metrics?: RoleMetrics;
  readonly onConnectionError?: (error: Error) => void;
  /** Sources to use instead of the files in `lua/`: a system that is wrong on purpose. */
  readonly scripts?: Partial<Readonly<Record<ScriptName, string>>>;
  /** Opens the connection instead of `openConnection`. */
  readonly open?: typeof openConnection;
}

/** The port, with what seeding, rebuild and the gateway's funnel need besides. */
export interface RedisStock extends StockPort {
  /** Over the same connection. */
  readonly view: StockView;
  /** Over the same connection. */
  readonly book: EntryBook;
  warmUp(sku: SkuKey, what: WarmUp): Promise<CallResult<WarmUpResult>>;
  /** One page of all records; start with cursor `0`, end when `nextCursor` is `0`. */
  scanRecords(sku: SkuKey, cursor: string, count: number): Promise<CallResult<RecordPage>>;
  /** True once connected, false after the timeout. */
  whenConnected(timeoutMs: number): Promise<boolean>;
}

const DEFAULTS = { connectionName: 'seckill', commandTimeoutMs: 500, resendAfterMs: 1_000, soldOutMarkMs: 0 };
const RECHECK_FACTOR = 5;

/** Starts to connect and returns at once; calls before the connection stands are surely-not-done. Throws only if a script is missing. */
export function connectStock(address: RoleAddresses['redis'], namespace: Namespace, options: StockOptions = {}): RedisStock {
  const settings = { ...DEFAULTS, ...options };
  const recheckInMs = options.recheckSentAfterMs ?? settings.resendAfterMs * RECHECK_FACTOR;
  const scripts = loadScripts(options.scripts);
  const redis = (options.open ?? openConnection)(address, {
    name: settings.connectionName,
    commandTimeoutMs: settings.commandTimeoutMs,
    onError: options.onConnectionError,
  });
  const connection = bindStock(redis, namespace.redisPrefix, scripts, options.metrics ?? null);
  const guard = createEpochGuard(connection);
  return {
    reserve: (sku, requests) => reserve(connection, guard, sku, requests, { dueInMs: settings.resendAfterMs, soldOutMarkMs: settings.soldOutMarkMs }),
    markSent: (sku, requestIds) => markSent(connection, sku, requestIds, recheckInMs),
    lookup: (sku, requestId) => lookup(connection, sku, requestId),
    async meta(sku) {
      const result = await readMeta(connection, sku);
      return result.outcome === 'done' ? { outcome: 'done', meta: result.value } : result;
    },
    claimPending: (sku, leaseMs, limit) => claimPending(connection, sku, leaseMs, limit),
    figures: (sku) => stockFigures(connection, sku),
    project: (sku, updates) => project(connection, sku, updates),
    warmUp: (sku, what) => warmUp(connection, sku, what),
    scanRecords: (sku, cursor, count) => scanRecords(connection, sku, cursor, count),
    view: createStockView(connection, guard),
    book: createEntryBook(connection, namespace.redisPrefix),
    whenConnected: (timeoutMs) => whenReady(redis, timeoutMs),
    async ready() {
      const role = await connection.command('role', () => redis.role());
      return role.outcome === 'done' && Array.isArray(role.value) && role.value[0] === 'master';
    },
    close() {
      // Not quit(): it waits for an answer that may never come. What is in flight ends as unknown.
      redis.disconnect();
      return Promise.resolve();
    },
  };
}

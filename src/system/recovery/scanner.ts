/**
 * Role `scanner`: finishes reservations whose hand-off to the broker was lost or not confirmed, so that a crash right after the Lua call
 * costs time and never a unit (DESIGN §4, CASES C15). State lives in Redis and PostgreSQL alone; a scanner may be killed at any moment and
 * any number of them may run (the lease is taken inside Redis, by its clock).
 */
import type { SkuKey } from '../../domain/ids.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { ReservationJudge } from '../ledger/ledger-port.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { StockPort } from '../stock/stock-port.js';
import { watchManual } from './manual-hand-over.js';
import { createPatienceBook } from './scanner-decision.js';
import { scannerRecorders } from './scanner-metrics.js';
import { scanOnce, type PassTools } from './scanner-pass.js';

export interface ScannerDependencies {
  readonly stock: StockPort;
  readonly judge: ReservationJudge;
  readonly producer: LogProducer;
  readonly metrics: RoleMetrics;
}

/** What of the role's configuration the scanner reads. */
export type ScannerConfig = Pick<RoleConfig, 'activityId' | 'skuIds' | 'namespace' | 'tuning'>;

/** One Redis call moves at most this many entries (CASES C12), one SQL call asks for as many, one produce batch sends them. */
const PAGE_SIZE = 200;
/** Clock differences between the machines of gateway, Redis and consumer. */
const EXPIRY_MARGIN_MS = 1_000;
/** An ended reservation is left to its event for this many leases. */
const PATIENCE_LEASES = 5;
/** Backing off while a store is away: at most this many intervals. */
const BACKOFF_MAX_INTERVALS = 8;

/** Starts scanning at once. Takes ownership of its dependencies and closes them at `stop()`. */
export function startScanner({ stock, judge, producer, metrics }: ScannerDependencies, config: ScannerConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const { tuning } = config;
  const tools: PassTools = {
    stock, judge, producer, surroundings,
    recorders: scannerRecorders(metrics),
    patience: createPatienceBook(tuning.leaseMs * PATIENCE_LEASES),
    ordersTopic: config.namespace.ordersTopic,
    leaseMs: tuning.leaseMs,
    pageSize: PAGE_SIZE,
    expiryMarginMs: EXPIRY_MARGIN_MS,
    recoveryDeadlineMs: tuning.recoveryDeadlineMs,
  };
  const skus: readonly SkuKey[] = config.skuIds.map((skuId) => ({ activityId: config.activityId, skuId }));
  const watch = watchManual(tools);
  const bell = createBell();
  let fail: (error: Error) => void = () => undefined;
  const fatal = new Promise<Error>((resolve) => (fail = resolve));

  async function scanAll(): Promise<boolean> {
    let away = false;
    for (const sku of skus) {
      for (let end = 'page-full'; end === 'page-full' && !bell.rung(); ) {
        end = await scanOnce(tools, sku);
        away ||= end === 'store-away';
      }
    }
    return away;
  }

  async function loop(): Promise<void> {
    for (let failures = 0; !bell.rung(); ) {
      failures = (await scanAll()) ? failures + 1 : 0;
      // Real time, whatever the role's clock says: it is compared with the clock of whoever alerts.
      if (failures === 0) tools.recorders.lastPass.set(Date.now() / 1_000);
      await watch();
      if (failures === 1) surroundings.log('warn', 'Redis or PostgreSQL is away; nothing can be recovered until it is back');
      await bell.wait(tuning.scannerIntervalMs * Math.min(1 + failures, BACKOFF_MAX_INTERVALS));
    }
  }

  // Ports turn operating failures into values: what rejects here is a bug, and a scanner with a bug must not go silent.
  const running = loop().catch((error: unknown) => { fail(error instanceof Error ? error : new Error(String(error))); });
  return Promise.resolve({
    fatal,
    async health() {
      const [redis, postgres, kafka] = await Promise.all([stock.ready(), judge.ready(), producer.ready()]);
      const problems: string[] = [];
      if (!redis) problems.push('Redis does not answer as primary');
      if (!postgres) problems.push('PostgreSQL does not answer');
      if (!kafka) problems.push('Kafka does not answer');
      return problems;
    },
    async stop() {
      bell.ring();
      await running;
      await Promise.all([stock.close(), judge.close(), producer.close()]);
    },
  });
}

/** A wait that a stop can cut short. */
function createBell(): { ring(): void; rung(): boolean; wait(durationMs: number): Promise<void> } {
  let isRung = false;
  let wake: () => void = () => undefined;
  return {
    rung: () => isRung,
    ring() {
      isRung = true;
      wake();
    },
    wait(durationMs) {
      if (isRung) return Promise.resolve();
      return new Promise((resolve) => {
        const timer = setTimeout(resolve, durationMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    },
  };
}

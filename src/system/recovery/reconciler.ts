/**
 * Role `reconciler`: keeps the three ledgers together (paper `004` §12). Looks four times a second whether Redis is still the one it knows, rebuilds it when it
 * is not, lets the stock go in steps afterwards, and in between compares Redis, the orders topic and PostgreSQL id by id and repairs what differs.
 *
 * One instance leads, by a lease in PostgreSQL; the others wait. Everything it has decided stands in a store, so it may be killed at any moment.
 */
import type { SkuKey } from '../../domain/ids.js';
import { DIFFERENCE_KIND_NAMES } from '../../domain/reconciliation.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { ReconciliationStore } from '../ledger/reconciliation-store.js';
import type { OrderLogReader } from '../order-log/order-log-reader.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { RedisMirror } from '../stock/mirror.js';
import { judgeMirror } from './rebuild-need.js';
import { rebuild, type RebuildTools } from './rebuild.js';
import { takeLook } from './reconciler-look.js';
import { reconcilerRecorders, type ReconcilerRecorders } from './reconciler-metrics.js';
import { agreed, finishOpen, repairAll, suspectsOf, type RepairTools, type Suspects } from './reconciler-pass.js';
import type { Difference } from './reconciliation-look.js';
import { createReopening } from './reopen.js';

export interface ReconcilerDependencies {
  readonly mirror: RedisMirror;
  readonly store: ReconciliationStore;
  readonly reader: OrderLogReader;
  readonly producer: LogProducer;
  readonly metrics: RoleMetrics;
}

/** A store that is away is asked again after at most this many intervals. */
const BACKOFF_MAX_INTERVALS = 8;

interface SkuState {
  readonly sku: SkuKey;
  suspects: Suspects | null;
  nextLookAtMs: number;
}

/** Starts at once. Takes ownership of its dependencies and closes them at `stop()`. */
export function startReconciler(dependencies: ReconcilerDependencies, config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const { mirror, store, reader, producer } = dependencies;
  const loop = new ReconcilerLoop(dependencies, config, surroundings);
  const running = loop.run();
  let fail: (error: Error) => void = () => undefined;
  const bug = new Promise<Error>((resolve) => (fail = resolve));
  running.catch((error: unknown) => {
    fail(error instanceof Error ? error : new Error(String(error)));
  });
  return Promise.resolve({
    fatal: Promise.race([bug, reader.fatal]),
    async health() {
      const [redis, postgres, kafka] = await Promise.all([mirror.ready(), store.ready(), producer.ready()]);
      const problems: string[] = [];
      if (!redis) problems.push('Redis does not answer as primary');
      if (!postgres) problems.push('PostgreSQL does not answer');
      if (!kafka || !reader.ready()) problems.push('Kafka cannot be used');
      return problems;
    },
    async stop() {
      loop.stop();
      await running.catch(() => undefined);
      await store.freeLease();
      await Promise.all([mirror.close(), store.close(), reader.stop(), producer.close()]);
    },
  });
}

class ReconcilerLoop {
  readonly #deps: ReconcilerDependencies;
  readonly #config: RoleConfig;
  readonly #surroundings: RoleSurroundings;
  readonly #recorders: ReconcilerRecorders;
  readonly #repairs: RepairTools;
  readonly #rebuilds: RebuildTools;
  readonly #reopening;
  readonly #skus: readonly SkuState[];
  #stopped = false;
  #wake: () => void = () => undefined;

  constructor(deps: ReconcilerDependencies, config: RoleConfig, surroundings: RoleSurroundings) {
    const { mirror, store, reader, producer } = deps;
    const { reconciler: tuning, sendBudgetMs, reserveTimeoutMs } = config.tuning;
    this.#deps = deps;
    this.#config = config;
    this.#surroundings = surroundings;
    this.#recorders = reconcilerRecorders(deps.metrics);
    const holdsLease = async (token: number): Promise<boolean> => (await store.lease(tuning.leaseMs)) === token;
    this.#repairs = { mirror, store, producer, ordersTopic: config.namespace.ordersTopic, surroundings, recorders: this.#recorders, holdsLease };
    this.#rebuilds = {
      mirror, store, reader, surroundings, tuning,
      inFlightMs: sendBudgetMs + reserveTimeoutMs,
      pause: (ms) => this.#pause(ms),
      stopping: () => this.#stopped,
      holdsLease,
    };
    this.#reopening = createReopening({ mirror, reader, tuning });
    this.#skus = config.skuIds.map((skuId) => ({ sku: { activityId: config.activityId, skuId }, suspects: null, nextLookAtMs: 0 }));
  }

  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  async run(): Promise<void> {
    const { checkIntervalMs, leaseMs } = this.#config.tuning.reconciler;
    for (let failures = 0; !this.#stopped; ) {
      const token = await this.#deps.store.lease(leaseMs);
      this.#recorders.leads.set(token !== null && token > 0 ? 1 : 0);
      let away = token === null;
      if (token !== null && token > 0) for (const state of this.#skus) away = !(await this.#tend(state, token)) || away;
      // What another leader did meanwhile is not known here.
      else for (const state of this.#skus) state.suspects = null;
      failures = away ? failures + 1 : 0;
      await this.#pause(checkIntervalMs * Math.min(1 + failures, BACKOFF_MAX_INTERVALS));
    }
  }

  /** False: a store is away. */
  async #tend(state: SkuState, token: number): Promise<boolean> {
    const { sku } = state;
    const { mirror, store } = this.#deps;
    const [seen, known] = await Promise.all([mirror.state(sku), store.knownRedis(sku)]);
    if (seen.outcome !== 'done' || known === null) return false;
    const judged = judgeMirror(seen.value, known);
    this.#recorders.paused(sku).set(judged.verdict === 'rebuild' ? 1 : 0);
    this.#recorders.heldBack(sku).set(seen.value.heldBack);
    switch (judged.verdict) {
      case 'not-warm':
        return true;
      case 'new':
        return (await store.saveKnownRedis(sku, { epoch: seen.value.epoch, runId: seen.value.serverRunId }, token, false)) !== null;
      case 'rebuild':
        state.suspects = null;
        return this.#rebuild(sku, token, judged.cause);
      case 'reopening':
        // The sums are right with units held back; comparing waits only because the machine has better things to do.
        state.suspects = null;
        return (await this.#reopening.step(sku, seen.value.epoch, seen.value.heldBack, performance.now())) !== null;
      case 'known':
        return this.#compare(state, token);
    }
  }

  async #rebuild(sku: SkuKey, token: number, cause: string): Promise<boolean> {
    const log: RoleSurroundings['log'] = (level, text, fields) => {
      this.#surroundings.log(level, text, fields);
    };
    log('error', 'this is not the Redis that was known; admission is paused until it is rebuilt', { cause, skuId: sku.skuId });
    const ended = await rebuild(this.#rebuilds, sku, token);
    if (ended.end === 'again') {
      log('warn', 'the rebuild begins again', { why: ended.why, skuId: sku.skuId });
      return false;
    }
    const { plan, epoch } = ended;
    this.#recorders.rebuilds.add();
    log('info', 'Redis was rebuilt from durable facts', { epoch, skuId: sku.skuId, records: plan.records.size, units: plan.units, inFlight: plan.inFlight });
    return true;
  }

  async #compare(state: SkuState, token: number): Promise<boolean> {
    const { passIntervalMs, graceMs, repairs } = this.#config.tuning.reconciler;
    if (performance.now() < state.nextLookAtMs) return true;
    if (repairs && !(await finishOpen(this.#repairs, state.sku))) return false;
    const look = await takeLook({ ...this.#deps, surroundings: this.#surroundings }, state.sku);
    if (look === null) return false;
    this.#recorders.looks.add();
    const later = suspectsOf(look, graceMs);
    const differences = agreed(state.suspects, later, graceMs);
    this.#tell(differences);
    state.suspects = later;
    // Suspects get their second look as soon as the grace is over.
    state.nextLookAtMs = performance.now() + (later.differences.length > 0 ? graceMs + 50 : passIntervalMs);
    if (differences.length === 0) return true;
    await this.#surroundings.observer.reached('reconciler.after-diff', differences.slice(0, 64).map(({ subject }) => subject));
    if (!repairs) return true;
    const { applied, leaseLost } = await repairAll(this.#repairs, state.sku, later.epoch, token, differences);
    if (leaseLost) this.#surroundings.log('warn', 'the lease was lost before all repairs were made; its new holder finds the rest', { skuId: state.sku.skuId, applied });
    // Nothing that was seen before a repair, or before another led, says anything about after it.
    if (applied > 0 || leaseLost) state.suspects = null;
    return true;
  }

  #tell(differences: readonly Difference[]): void {
    for (const kind of DIFFERENCE_KIND_NAMES) this.#recorders.differences(kind).set(differences.filter((difference) => difference.kind === kind).length);
    for (const { kind, subject, seen } of differences.slice(0, 20)) this.#surroundings.log('error', 'the ledgers differ', { kind, subject, seen });
  }

  #pause(ms: number): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

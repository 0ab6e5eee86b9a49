/**
 * Role `compensator`: works off compensation tasks. Claim, work, mark: a worker that dies in between leaves a lease that runs out, and the work is
 * done again, which harms nothing. Any number of workers share the table by SKIP LOCKED.
 */
import { randomUUID } from 'node:crypto';

import type { RoleConfig } from '../../domain/role-config.js';
import { CompensationType } from '../../domain/status-codes.js';
import { describeFailure, isBug } from '../ledger/postgres-failure.js';
import type { PaymentChannel } from '../payment/payment-channel-port.js';
import type { OrderLife } from '../payment/order-life-port.js';
import { runLoop } from '../role-loop.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { StockPort } from '../stock/stock-port.js';
import type { CompensationStore, CompensationTask, TaskEnd } from './compensation-store.js';
import { workOff, type CompensationTools } from './compensation-work.js';

export interface CompensatorDependencies {
  readonly store: CompensationStore;
  readonly stock: StockPort;
  readonly life: OrderLife;
  /** null: there is no channel, so refunds wait. */
  readonly channel: PaymentChannel | null;
  readonly metrics: RoleMetrics;
}

const PAGE_SIZE = 50;
/** So many tasks at once: most of them wait for the channel or for Redis. */
const AT_ONCE = 8;
const FIRST_RETRY_MS = 200;
/** Twenty tries with this bound are more than a quarter of an hour. */
const LONGEST_RETRY_MS = 60_000;
const FIGURES_INTERVAL_MS = 1_000;

const TYPE_NAMES = new Map<number, string>(Object.entries(CompensationType).map(([name, type]) => [type, name]));

/** Starts working at once. Takes ownership of its dependencies and closes them. */
export function startCompensator({ store, stock, life, channel, metrics }: CompensatorDependencies, config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const { leaseMs, compensatorIntervalMs } = config.tuning;
  const tools: CompensationTools = { store, stock, life, channel };
  const gauges = {
    open: metrics.gauge('compensation_pending_count', 'Compensation tasks that are not finished'),
    dead: metrics.gauge('compensation_dead_count', 'Compensation tasks given up after their last try: a human is needed'),
  };
  let recoverAtMs = 0;
  let figuresAtMs = 0;

  async function housekeeping(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs >= recoverAtMs) {
      recoverAtMs = nowMs + leaseMs / 2;
      await store.recoverLeases(leaseMs);
    }
    if (nowMs < figuresAtMs) return;
    figuresAtMs = nowMs + FIGURES_INTERVAL_MS;
    const { open, dead } = await store.figures();
    gauges.open.set(open);
    gauges.dead.set(dead);
  }

  async function tryTask(task: CompensationTask): Promise<TaskEnd> {
    try {
      return await workOff(task, tools);
    } catch (error) {
      if (isBug(error)) throw error;
      return { end: 'again', reason: describeFailure(error) };
    }
  }

  async function workPage(): Promise<boolean> {
    await housekeeping();
    const claim = `${config.instance}:${randomUUID()}`;
    const startedMs = performance.now();
    const tasks = await store.claim(PAGE_SIZE, claim);
    const queue = tasks.values();
    const ends: { readonly task: CompensationTask; readonly end: TaskEnd }[] = [];
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, tasks.length) }, async () => {
      for (const task of queue) {
        // What is left when the lease ends belongs to another worker by then.
        if (performance.now() - startedMs >= leaseMs) return;
        ends.push({ task, end: await tryTask(task) });
      }
    }));
    await mark(ends, claim);
    return tasks.length === PAGE_SIZE;
  }

  async function mark(ends: readonly { readonly task: CompensationTask; readonly end: TaskEnd }[], claim: string): Promise<void> {
    const finished = ends.flatMap(({ task, end }) => (end.end === 'again' ? [] : [{ taskId: task.taskId, cancelled: end.end === 'cancelled', note: end.note }]));
    const again = ends.flatMap(({ task, end }) => (end.end === 'again' ? [{ taskId: task.taskId, delayMs: retryDelayMs(task.retryCount), error: end.reason }] : []));
    if (finished.length > 0) await store.finish(finished, claim);
    const dead = again.length === 0 ? [] : await store.retry(again, claim);
    for (const { task, end } of ends) metrics.counter('compensation_tasks_total', 'Tries of compensation tasks', { type: TYPE_NAMES.get(task.type) ?? 'UNKNOWN', end: end.end }).add();
    for (const taskId of dead) surroundings.log('error', 'a compensation task was given up after its last try', { taskId, error: again.find((one) => one.taskId === taskId)?.error ?? null });
  }

  const loop = runLoop({
    intervalMs: compensatorIntervalMs,
    async pass() {
      try {
        return await workPage();
      } catch (error) {
        if (isBug(error)) throw error;
        surroundings.log('warn', 'a round of compensation failed', { error: describeFailure(error) });
        return false;
      }
    },
  });
  return Promise.resolve({
    fatal: loop.fatal,
    async health() {
      const [postgres, redis] = await Promise.all([store.ready(), stock.ready()]);
      return [...(postgres ? [] : ['PostgreSQL does not answer']), ...(redis ? [] : ['Redis does not answer as primary'])];
    },
    async stop() {
      await Promise.all([loop.stop(), channel?.close()]);
      await Promise.all([store.close(), stock.close(), life.close()]);
    },
  });
}

function retryDelayMs(retryCount: number): number {
  const baseMs = Math.min(FIRST_RETRY_MS * 2 ** retryCount, LONGEST_RETRY_MS);
  return baseMs / 2 + (Math.random() * baseMs) / 2;
}

/**
 * One case: a whole run (plan to report) on a lane of a warm stack, in its own namespace. A case that cannot be carried out is a result too; only a bug rejects.
 */
import { LabError } from '../../facts/lab-error.js';
import type { LabEventListener } from '../../facts/lab-event.js';
import type { RunStore } from '../../facts/run-store.js';
import type { RunVerdict } from '../../facts/verdict.js';
import { dropNamespace } from '../prepare-system.js';
import { runExperiment } from '../run-experiment.js';
import type { RunOptions } from '../run-options.js';
import type { RunPlan } from '../run-plan.js';
import type { WarmStack } from './warm-stack.js';

export interface CaseRequest {
  readonly plan: RunPlan;
  /** A fresh folder of the case's own. */
  readonly store: RunStore;
  readonly emit: LabEventListener;
  /** Ctrl-C: the case heals, tears down and ends as `failed` with ABORTED. */
  readonly signal: AbortSignal;
  readonly argv: readonly string[];
  readonly options: RunOptions;
}

interface CaseAccount {
  readonly lane: number;
  readonly tookMs: number;
  readonly directory: string;
  /** Name of the database that was left to look at; null after a green case, whose namespace is deleted. */
  readonly keptNamespace: string | null;
}

export type CaseResult =
  | (CaseAccount & { readonly kind: 'judged'; readonly verdict: RunVerdict })
  | (CaseAccount & { readonly kind: 'failed'; readonly error: LabError });

/** Never touches another lane, but for faults on servers, which all lanes share: such a case must have the stack to itself (`needsWholeStack`). */
export async function runCase(warm: WarmStack, lane: number, request: CaseRequest): Promise<CaseResult> {
  const { plan, store, emit, signal, argv, options } = request;
  const abort = new AbortController();
  const onAbort = (): void => {
    abort.abort(signal.reason);
  };
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  const stopListening = warm.onServerDeath((server, lastLogLines) => {
    abort.abort(new LabError('SERVER_DIED', `${server} died during the case, and no fault had killed it`, 'read its last lines below; `seckill-lab doctor` checks the machine', { details: lastLogLines }));
  });
  const beganMs = performance.now();
  const account = (isGreen: boolean): CaseAccount => ({
    lane,
    tookMs: Math.round(performance.now() - beganMs),
    directory: store.directory,
    keptNamespace: isGreen ? null : plan.namespace.database,
  });
  try {
    const verdict = await runExperiment(plan, { store, emit, abort, stackSource: { kind: 'lent', handle: warm.handle, lane, workers: warm.workers?.lane(lane) ?? null }, argv, options });
    return { ...account(verdict.outcome === 'green'), kind: 'judged', verdict };
  } catch (error) {
    if (!(error instanceof LabError)) throw error;
    return { ...account(false), kind: 'failed', error };
  } finally {
    stopListening();
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * Removes what a case that is not green has left in the stores. They end with the warm stack in any case, and until then a hundred of them would take up PostgreSQL's replication
 * slots, of which it has 64; what can be looked at is the case's folder. Never rejects: a case that failed early has nothing to drop, and a stack that is gone cannot drop it.
 */
export async function dropWhatIsLeft(result: CaseResult, plan: RunPlan, warm: WarmStack): Promise<void> {
  if (result.keptNamespace === null) return;
  await dropNamespace(plan, warm.handle.description).catch(() => undefined);
}

/** Faults that stop, kill or move a server hit every lane: their names say so, and a new one is taken for such a fault. */
const LANE_FAULTS: ReadonlySet<string> = new Set([
  'kill-role', 'pause-at-step', 'freeze-role', 'cut-at-step', 'link-outage', 'link-toxic', 'lose-produce-ack', 'slow-consumer', 'poison-messages', 'duplicate-compensation', 'tamper-redis', 'foreign-redis', 'stop-scanner', 'clock-skew',
]);

/** True when a fault of the plan may touch what other lanes use. */
export function needsWholeStack(plan: Pick<RunPlan, 'faults'>): boolean {
  return plan.faults.some((text) => !LANE_FAULTS.has(text.split('@')[0] ?? ''));
}

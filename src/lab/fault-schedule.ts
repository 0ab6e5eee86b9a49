/**
 * Runs the faults of a run beside its storm, and undoes them: always, in reverse order, with proof (DESIGN §2, steps 5 and 6).
 */
import type { FaultRecord } from '../facts/fault-record.js';
import type { LabEventListener } from '../facts/lab-event.js';
import type { RoleInstance } from '../domain/roles.js';
import type { Targets } from '../facts/targets.js';
import type { AimedPlan, BoundFault, FaultClock, FaultInHand, FaultProof, HealProof } from '../faults/fault.js';

/** A fault of this run: bound options and the id it has in it. */
export interface FaultSpec {
  readonly id: string;
  readonly fault: BoundFault;
}

/** Names the faults of a run in order: `kill-role#1`, `kill-role#2`, `pg-outage#1`. */
export function numberFaults(faults: readonly BoundFault[]): readonly FaultSpec[] {
  const seen = new Map<string, number>();
  return faults.map((fault) => {
    const number = (seen.get(fault.name) ?? 0) + 1;
    seen.set(fault.name, number);
    return { id: `${fault.name}#${String(number)}`, fault };
  });
}

/** Step plans to hand to the role processes at spawn. */
export function plansOf(specs: readonly FaultSpec[], instances: readonly RoleInstance[]): readonly AimedPlan[] {
  return specs.flatMap(({ id, fault }) => fault.plans(id, instances));
}

export interface FaultSchedule {
  /** Resolves when every fault has run its course and was healed in its own time. Step faults wait for their strikes, so it may never do so. Never rejects. */
  readonly done: Promise<void>;
  /** Ends what still runs, heals all in reverse order, proves both; the records in the order of the specs. Idempotent; never rejects. */
  healAll(): Promise<readonly FaultRecord[]>;
}

/** A fault that does not come back from its own work is left behind after this; healing goes on. */
const INJECT_END_BOUND_MS = 30_000;
const HEAL_BOUND_MS = 45_000;

interface Entry {
  readonly spec: FaultSpec;
  readonly hand: FaultInHand;
  readonly scheduledUs: number;
  injectedUs: number | null;
  healedUs: number | null;
  injectError: string | null;
  heal: HealProof | null;
  proof: FaultProof | null;
}

export function startFaultSchedule(
  specs: readonly FaultSpec[],
  targets: Targets,
  options: { readonly stormStartUs: number; readonly emit: LabEventListener; readonly clock: FaultClock },
): FaultSchedule {
  const { stormStartUs, emit, clock } = options;
  const stop = new AbortController();
  const stopped = (): boolean => stop.signal.aborted;
  const entries = specs.map((spec): Entry => ({
    spec,
    hand: spec.fault.begin({ id: spec.id, targets, clock }),
    scheduledUs: stormStartUs + spec.fault.startsAfterMs * 1000,
    injectedUs: null,
    healedUs: null,
    injectError: null,
    heal: null,
    proof: null,
  }));
  const say = (entry: Entry, state: 'armed' | 'landed' | 'not-landed' | 'healed' | 'not-healed', text: string): void => {
    emit({ kind: 'fault', id: entry.spec.id, state, text, atUs: clock.monoUs() });
  };

  const finish = async (entry: Entry): Promise<void> => {
    if (entry.proof !== null) return;
    entry.heal = await bounded(entry.hand.heal(), HEAL_BOUND_MS, clock, (why) => ({ healed: false, observed: why }));
    entry.healedUs = clock.monoUs();
    say(entry, entry.heal.healed ? 'healed' : 'not-healed', entry.heal.observed);
    entry.proof = await bounded(entry.hand.prove(), HEAL_BOUND_MS, clock, (why) => ({ landed: false, observed: `the proof failed: ${why}`, strikes: 0, hits: [], mayLose: null }));
    say(entry, entry.proof.landed ? 'landed' : 'not-landed', entry.proof.observed);
  };

  const live = async (entry: Entry): Promise<void> => {
    await clock.wait((entry.scheduledUs - clock.monoUs()) / 1000, stop.signal);
    if (stopped()) return;
    entry.injectedUs = clock.monoUs();
    say(entry, 'armed', entry.spec.fault.prediction);
    try {
      await entry.hand.inject(stop.signal);
    } catch (cause) {
      entry.injectError = wordsOf(cause);
    }
    // While the storm goes on it is healed here, at its own time; after the stop, in healAll, in reverse order.
    if (!stopped()) await finish(entry);
  };

  const lives = entries.map((entry) => live(entry));
  let healing: Promise<readonly FaultRecord[]> | null = null;
  const healEverything = async (): Promise<readonly FaultRecord[]> => {
    stop.abort();
    await bounded(Promise.all(lives), INJECT_END_BOUND_MS, clock, () => []);
    for (const entry of [...entries].reverse()) await finish(entry);
    return entries.map(recordOf);
  };
  return {
    done: Promise.all(lives).then(() => undefined),
    healAll: () => (healing ??= healEverything()),
  };
}

function recordOf(entry: Entry): FaultRecord {
  const { spec, proof, heal } = entry;
  return {
    id: spec.id,
    name: spec.fault.name,
    options: spec.fault.options,
    scheduledUs: entry.scheduledUs,
    injectedUs: entry.injectedUs,
    healedUs: entry.injectedUs === null ? null : entry.healedUs,
    prediction: spec.fault.prediction,
    proof: entry.injectedUs === null ? 'not-injected' : proof?.landed === true && entry.injectError === null ? 'landed' : 'not-landed',
    observed: [entry.injectError === null ? '' : `failed while injecting: ${entry.injectError}; `, entry.injectedUs === null ? 'the storm ended before its time' : (proof?.observed ?? 'not proven')].join(''),
    healed: heal?.healed === true,
    healObserved: heal?.observed ?? 'not healed',
    strikes: proof?.strikes ?? 0,
    strikesAsked: spec.fault.strikesAsked,
    hits: proof?.hits ?? [],
    mayLose: proof?.mayLose ?? null,
    ...(proof?.outage === undefined ? {} : { outage: proof.outage }),
    ...(proof?.unheardMessages === undefined ? {} : { unheardMessages: proof.unheardMessages }),
  };
}

/** `work`, or what `otherwise` makes of its failure or of its taking longer than `boundMs`. Never rejects. */
async function bounded<T>(work: Promise<T>, boundMs: number, clock: FaultClock, otherwise: (why: string) => T): Promise<T> {
  const done = new AbortController();
  const late = clock.wait(boundMs, done.signal).then(() => otherwise(`not done within ${String(boundMs)} ms`));
  try {
    return await Promise.race([work.catch((cause: unknown) => otherwise(wordsOf(cause))), late]);
  } finally {
    done.abort();
  }
}

function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** The host's own clock for faults. */
export const hostFaultClock: FaultClock = {
  monoUs: () => Number(process.hrtime.bigint() / 1000n),
  wallMs: () => Date.now(),
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true || !(ms > 0)) {
        resolve();
        return;
      }
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(ms, 2 ** 31 - 1));
      signal?.addEventListener('abort', end, { once: true });
    }),
};

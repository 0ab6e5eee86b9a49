/**
 * What a fault is: options, a prediction, the breaking, its proof and its undoing (DESIGN §8). One file each beside this one; they act only
 * through the `Targets` port, so that every stack provider can be faulted alike.
 *
 * Life of a fault: `bindFault` checks its options → `plans` go to the role processes at spawn → `begin` → `inject` at its time → `heal` →
 * `prove`. The proof is judged last, because Toxiproxy counts the bytes of a connection only when that connection ends.
 */
import type { z } from 'zod';

import type { RoleInstance } from '../domain/roles.js';
import type { MayLose, SeenOutage } from '../facts/fault-record.js';
import type { StepHit, StepPlan, Targets } from '../facts/targets.js';

/** Time for faults: CLOCK_MONOTONIC, and a wait that ends early when the fault has to end. */
export interface FaultClock {
  monoUs(): number;
  /** Milliseconds since the epoch, as the servers of this host stamp them. */
  wallMs(): number;
  /** Resolves after `ms`, or at once when `signal` is aborted. Never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface FaultSurroundings {
  /** Unique in the run, `pg-outage#1`; toxics and plans carry it. */
  readonly id: string;
  readonly targets: Targets;
  readonly clock: FaultClock;
}

/** A step plan and the process it is given to. */
export interface AimedPlan {
  readonly instance: RoleInstance;
  readonly plan: StepPlan;
}

/** How far the clock of a process is ahead; negative: behind. */
export interface AimedSkew {
  readonly instance: RoleInstance;
  readonly aheadMs: number;
}

export interface FaultProof {
  readonly landed: boolean;
  /** What was seen, in words with figures. */
  readonly observed: string;
  readonly strikes: number;
  readonly hits: readonly StepHit[];
  readonly mayLose: MayLose | null;
  readonly outage?: SeenOutage;
  readonly unheardMessages?: number;
}

export interface HealProof {
  readonly healed: boolean;
  readonly observed: string;
}

/** One fault under way. */
export interface FaultInHand {
  /** Breaks things and resolves when the fault has run its course, or soon after `signal` is aborted. May reject; it is healed all the same. */
  inject(signal: AbortSignal): Promise<void>;
  /** Undoes and looks whether it is undone. May be called at any time and more than once. */
  heal(): Promise<HealProof>;
  /** Compares what was seen with the prediction. Called after `heal`. */
  prove(): Promise<FaultProof>;
}

/**
 * What a fault needs for itself while it lasts; two faults that hold the same thing at the same time are refused (`fault-conflicts.ts`). A shared hold gets
 * along with other shared ones: a row lock needs PostgreSQL to run, and does not mind a second lock.
 */
export interface FaultHold {
  readonly kind: 'server' | 'link' | 'role';
  /** `postgres`, `gateway-redis`, `consumer-1`. */
  readonly name: string;
  readonly shared: boolean;
  /** After the start of the storm; `toMs` Infinity: as long as it takes. */
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * What a stack has to have from its start, since it cannot be had afterwards. `small-kafka-disk`: Kafka's data on a small disk of its own. `server-files`: data and logs of
 * the servers as files of this machine, which those of containers are not.
 */
export type StackNeed = 'small-kafka-disk' | 'server-files';

export interface FaultDefinition<Schema extends z.ZodObject> {
  readonly name: string;
  /** One line for `seckill-lab list`. */
  readonly description: string;
  /** An option text that works: documentation and test at once. */
  readonly example: string;
  /** Strict object; raw values are strings. */
  readonly schema: Schema;
  /** When after the start of the storm, milliseconds. */
  startsAfterMs(options: z.output<Schema>): number;
  strikesAsked(options: z.output<Schema>): number;
  /** Left out: it gets along with every other fault. */
  holds?(options: z.output<Schema>): readonly FaultHold[];
  needs?(options: z.output<Schema>): readonly StackNeed[];
  /** What has to move if it lands, in words. */
  predict(options: z.output<Schema>): string;
  /** Armed before the processes start; `instances` are all that will run. */
  plans?(options: z.output<Schema>, id: string, instances: readonly RoleInstance[]): readonly AimedPlan[];
  /** Clocks that are wrong from the start of their processes on. */
  skews?(options: z.output<Schema>, instances: readonly RoleInstance[]): readonly AimedSkew[];
  begin(options: z.output<Schema>, surroundings: FaultSurroundings): FaultInHand;
}

/** A fault with its options checked. */
export interface BoundFault {
  readonly name: string;
  /** As given, defaults filled in. */
  readonly options: Readonly<Record<string, string | number>>;
  readonly startsAfterMs: number;
  readonly strikesAsked: number;
  readonly holds: readonly FaultHold[];
  readonly needs: readonly StackNeed[];
  readonly prediction: string;
  plans(id: string, instances: readonly RoleInstance[]): readonly AimedPlan[];
  skews(instances: readonly RoleInstance[]): readonly AimedSkew[];
  begin(surroundings: FaultSurroundings): FaultInHand;
}

export type BindResult = { readonly ok: true; readonly fault: BoundFault } | { readonly ok: false; readonly problems: readonly string[] };

/** A fault as the registry holds it, its options' type closed over. */
export interface Fault {
  readonly name: string;
  readonly description: string;
  readonly example: string;
  /** Checks raw options; every problem at once. */
  bind(raw: Readonly<Record<string, string>>): BindResult;
}

export function defineFault<Schema extends z.ZodObject>(definition: FaultDefinition<Schema>): Fault {
  const keys = Object.keys(definition.schema.shape);
  return {
    name: definition.name,
    description: definition.description,
    example: definition.example,
    bind(raw) {
      const parsed = definition.schema.safeParse(raw);
      if (!parsed.success) return { ok: false, problems: parsed.error.issues.map((issue) => `${definition.name}: ${describeIssue(issue, keys)}`) };
      const options: z.output<Schema> = parsed.data;
      const shown = Object.fromEntries(Object.entries(options).filter((entry): entry is [string, string | number] => typeof entry[1] === 'string' || typeof entry[1] === 'number'));
      return {
        ok: true,
        fault: {
          name: definition.name,
          options: { ...shown, ...raw },
          startsAfterMs: definition.startsAfterMs(options),
          strikesAsked: definition.strikesAsked(options),
          holds: definition.holds?.(options) ?? [],
          needs: definition.needs?.(options) ?? [],
          prediction: definition.predict(options),
          plans: (id, instances) => definition.plans?.(options, id, instances) ?? [],
          skews: (instances) => definition.skews?.(options, instances) ?? [],
          begin: (surroundings) => definition.begin(options, surroundings),
        },
      };
    },
  };
}

function describeIssue(issue: z.core.$ZodIssue, keys: readonly string[]): string {
  if (issue.code === 'unrecognized_keys') return `has no option ${issue.keys.join(', ')}; it has ${keys.join(' ')}`;
  const where = issue.path.join('.');
  return where === '' ? issue.message : `${where} ${issue.message}`;
}

/**
 * Which cases a sweep has: every step that a base run reaches × every action that makes sense there × first, middle and last hit. Made from the list of steps
 * and from what the counting runs saw, so that a new step is swept without anybody thinking of it. Pure.
 */
import type { LinkName, RoleName } from '../../domain/roles.js';
import type { Step, StepName } from '../../domain/steps.js';
import { SWEEP_ACTIONS, SWEEP_HITS, type StepCount, type SweepAction, type SweepCase, type SweepHit, type SweepStream, type SweepStrike } from '../../facts/sweep.js';
import { callAfterStep } from '../../faults/call-after-step.js';
import { faultProblems } from '../plan-file.js';
import { faultOf } from './sweep-run.js';

export interface SweepSelection {
  /** Pattern of step names with `*`; null: all. */
  readonly steps: string | null;
  readonly actions: readonly SweepAction[];
  readonly hits: readonly SweepHit[];
}

export const WHOLE_SWEEP: SweepSelection = { steps: null, actions: SWEEP_ACTIONS, hits: SWEEP_HITS };

export type StepTable = Readonly<Record<string, Step>>;

/** Roles whose work another process of theirs takes over while one is stopped: a lease or a session ends. */
const TAKEN_OVER: ReadonlySet<RoleName> = new Set(['consumer', 'scanner', 'relay', 'projector', 'closer', 'compensator', 'undertaker', 'reconciler']);

/** After it the reconciler finds nothing that is wrong, so that whoever takes over passes no step: nothing could show that he did. */
const NOTHING_FOLLOWS: ReadonlySet<StepName> = new Set(['reconciler.after-rebuild']);

export function selectedSteps(steps: StepTable, pattern: string | null): StepName[] {
  const matches = pattern === null ? null : new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
  return (Object.keys(steps) as StepName[]).filter((name) => matches?.test(name) ?? true);
}

/** Scenario of a step → the base run that stands for it. */
export type BaseOfScenario = Readonly<Record<string, string>>;

/** The base run to sweep a step in: the one that stands for the step's scenario, or else the first that reaches it. null: none does. */
function countOf(name: StepName, { scenario }: Step, counts: readonly StepCount[], bases: BaseOfScenario): StepCount | null {
  const reaching = counts.filter(({ step, hits }) => step === name && hits > 0);
  return reaching.find(({ base }) => base === bases[scenario]) ?? reaching[0] ?? null;
}

/** First, middle and last of `hits`, without repeats: a step that is reached once has only a first. */
function hitNumbers(hits: number, wanted: readonly SweepHit[]): { when: SweepHit; hit: number }[] {
  const numbers: Record<SweepHit, number> = { first: 1, middle: Math.ceil(hits / 2), last: hits };
  const seen = new Set<number>();
  return wanted.flatMap((when) => {
    const hit = numbers[when];
    if (seen.has(hit)) return [];
    seen.add(hit);
    return [{ when, hit }];
  });
}

interface Cut {
  readonly link: LinkName;
  readonly stream: SweepStream;
}

/** Every way to cut at the step: over each of its links the answer of the call that follows and its request, where one follows, and the connection itself. */
function cutsAt(step: StepName, links: readonly LinkName[]): Cut[] {
  return links.flatMap((link) => (callAfterStep(step, link) === null ? (['both'] as const) : (['downstream', 'upstream', 'both'] as const)).map((stream) => ({ link, stream })));
}

type Strike = Omit<SweepStrike, 'step' | 'action'>;

/** Every hit at least once, and of cuts every way at least once: hits and ways go round side by side. */
function strikesOf(action: SweepAction, hits: readonly { when: SweepHit; hit: number }[], cuts: readonly Cut[], isTakenOver: boolean): Strike[] {
  if (action !== 'cut') return hits.map(({ when, hit }) => ({ when, hit, link: null, stream: null, hasPartner: action === 'pause' && when === 'first' && isTakenOver }));
  if (cuts.length === 0) return [];
  return Array.from({ length: Math.max(hits.length, cuts.length) }).flatMap((_, at) => {
    const [hit, cut] = [hits[at % hits.length], cuts[at % cuts.length]];
    return hit === undefined || cut === undefined ? [] : [{ ...hit, ...cut, hasPartner: false }];
  });
}

export interface GeneratedSweep {
  readonly cases: readonly SweepCase[];
  readonly unreached: readonly StepName[];
}

/** `counts`: in the order in which base runs are preferred that stand for no scenario of the step. */
export function sweepCases(steps: StepTable, counts: readonly StepCount[], bases: BaseOfScenario, selection: SweepSelection): GeneratedSweep {
  const cases: SweepCase[] = [];
  const unreached: StepName[] = [];
  for (const step of selectedSteps(steps, selection.steps)) {
    const known = steps[step];
    const count = known === undefined ? null : countOf(step, known, counts, bases);
    if (known === undefined || count === null) {
      unreached.push(step);
      continue;
    }
    const { links, role } = known;
    const hits = hitNumbers(count.hits, selection.hits);
    for (const action of selection.actions) {
      const strikes = strikesOf(action, hits, cutsAt(step, links), TAKEN_OVER.has(role) && !NOTHING_FOLLOWS.has(step)).map((strike): SweepStrike => ({ step, action, ...strike }));
      cases.push(...strikes.map((strike) => ({ id: idOf([strike]), base: count.base, strikes: [strike] })));
    }
  }
  // Every step once in each way before any step again: what is wrong with a step mostly shows at its first hit.
  const byHit = SWEEP_HITS.flatMap((when) => cases.filter(({ strikes }) => strikes[0]?.when === when));
  return { cases: byHit, unreached };
}

export function idOf(strikes: readonly SweepStrike[]): string {
  return strikes.map(({ step, action, when, link, stream }) => [step, action, when, link, stream].filter((part) => part !== null).join(' ')).join(' + ');
}

/** A generator of whole numbers below `bound`, the same for the same seed (mulberry32). */
function seededBelow(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/**
 * `count` different pairs of single cases of one base, at different steps; fewer where there are not so many. Partners are left out: who strikes first would be luck. So are
 * pairs that no run may have together: two cuts of one link would each be proven by what the other lost.
 */
export function pairCases(singles: readonly SweepCase[], count: number, seed: number): SweepCase[] {
  const below = seededBelow(seed);
  const pairs = new Map<string, SweepCase>();
  const plain = singles.map((single) => ({ ...single, strikes: single.strikes.map((strike) => ({ ...strike, hasPartner: false })) }));
  // Most draws are good; the bound is for lists that have few pairs.
  for (let draw = 0; draw < count * 50 && pairs.size < count && plain.length > 1; draw += 1) {
    const [one, other] = [plain[below(plain.length)], plain[below(plain.length)]];
    if (one === undefined || one.base !== other?.base || one.strikes[0]?.step === other.strikes[0]?.step) continue;
    const strikes = [...one.strikes, ...other.strikes].sort((left, right) => left.step.localeCompare(right.step));
    if (faultProblems(strikes.map(faultOf)).length > 0) continue;
    pairs.set(idOf(strikes), { id: idOf(strikes), base: one.base, strikes });
  }
  return [...pairs.values()];
}

/** A sample of about `size` that has every role with every action, drawn by the seed, in the order of the list. */
export function sampleOf(cases: readonly SweepCase[], size: number, seed: number, roleOf: (step: StepName) => RoleName): SweepCase[] {
  const below = seededBelow(seed);
  const groups = new Map<string, SweepCase[]>();
  for (const each of cases) {
    const [strike] = each.strikes;
    if (strike === undefined) continue;
    const key = `${roleOf(strike.step)} ${strike.action}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const taken = new Set<SweepCase>();
  for (const group of groups.values()) {
    const drawn = group[below(group.length)];
    if (drawn !== undefined && taken.size < size) taken.add(drawn);
  }
  for (let draw = 0; draw < size * 50 && taken.size < Math.min(size, cases.length); draw += 1) {
    const drawn = cases[below(cases.length)];
    if (drawn !== undefined) taken.add(drawn);
  }
  return cases.filter((each) => taken.has(each));
}

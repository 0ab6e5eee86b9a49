/**
 * Facts → verdict, the same in a run and in `seckill-lab check`: judge every invariant the run names, then the service levels, then weigh all of it
 * by the precedence of the exit codes. What the scenario has to have come to counts as well: short of it, the rest shows nothing. No I/O.
 */
import { ExitCode, firstThatApplies, type ExitCodeName } from '../exit-codes.js';
import type { Facts } from '../facts/facts.js';
import type { FaultRecord } from '../facts/fault-record.js';
import type { InvariantVerdict, LoadVerdict, RunFigures, RunOutcome, RunVerdict, ServiceLevelVerdict, ShownVerdict } from '../facts/verdict.js';
import { claimedLoad } from '../invariants/claimed-load.js';
import type { Invariant } from '../invariants/invariant.js';
import { invariantNamed } from '../invariants/registry.js';
import { runFigures } from '../invariants/run-figures.js';
import { judgeShown } from '../invariants/shown/registry.js';
import { SERVICE_LEVELS } from '../invariants/service-levels/registry.js';
import { levelNotJudged, unknownLevel } from '../invariants/service-levels/service-level.js';

/** What the verdict has to say about the run besides the facts. */
export interface JudgedRun {
  readonly id: string;
  /** ISO time. */
  readonly startedAt: string;
  /** Absolute folder of the run. */
  readonly directory: string;
}

/** Never throws: a judge that does is `unknown`. */
export function judgeFacts(facts: Facts, run: JudgedRun, findInvariant: (name: string) => Invariant | null = invariantNamed): RunVerdict {
  const invariants = facts.run.invariants.map((name) => judgeInvariant(facts, name, findInvariant(name)));
  const load = claimedLoad(facts);
  const serviceLevels = judgeServiceLevels(facts, load);
  const faults = facts.faults.present ? facts.faults.value : [];
  const figures = safely(() => runFigures(facts, invariants), noFigures(facts));
  const shown = facts.run.shows.map((spec) => judgeShown(facts, spec, figures));
  const outcome = outcomeOf(facts, { invariants, serviceLevels, shown, load, faults });
  return {
    schemaVersion: 2,
    run: { id: run.id, scenario: facts.run.scenario, seed: facts.run.load.seed, startedAt: run.startedAt, directory: run.directory },
    outcome: outcome.outcome,
    exitCode: ExitCode[EXIT_OF[outcome.outcome]],
    headline: headlineOf(outcome, invariants, figures),
    invariants, serviceLevels: serviceLevels.map((level) => heldBack(level, outcome.outcome)), shown, load, faults, figures,
  };
}

/** A run that is violated, or of which nobody can say that it is not, keeps no promise about speed, and what it came to is told to nobody. What it missed it missed. */
function heldBack(level: ServiceLevelVerdict, outcome: RunOutcome): ServiceLevelVerdict {
  if (outcome !== 'violated' && outcome !== 'unknown') return level;
  return level.outcome === 'met' ? { ...level, outcome: 'not-judged', measured: null, note: `the run is ${outcome}` } : { ...level, measured: null };
}

function judgeInvariant(facts: Facts, name: string, invariant: Invariant | null): InvariantVerdict {
  const nothing = { name, checked: 0, violations: 0, first: null, worst: null, excused: 0 };
  if (invariant === null) return { ...nothing, outcome: 'unknown', note: 'there is no judge of this name' };
  try {
    return invariant.judge(facts);
  } catch (cause) {
    return { ...nothing, outcome: 'unknown', note: `the judge crashed: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
}

function judgeServiceLevels(facts: Facts, load: LoadVerdict): ServiceLevelVerdict[] {
  return facts.run.serviceLevels.map((spec) => {
    if (load.outcome === 'void') return levelNotJudged(spec, 'the load was void');
    try {
      return SERVICE_LEVELS[spec.name](facts, spec);
    } catch (cause) {
      return unknownLevel(spec, `the judge crashed: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  });
}

function faultProblem(fault: FaultRecord): string | null {
  if (fault.proof !== 'landed') return `${fault.id} is not proven to have landed: predicted ${fault.prediction}, seen ${fault.observed}`;
  if (fault.strikes < fault.strikesAsked) return `${fault.id} struck ${String(fault.strikes)} of ${String(fault.strikesAsked)} times`;
  return fault.healed ? null : `${fault.id} was not healed: ${fault.healObserved}`;
}

interface Outcome {
  readonly outcome: RunOutcome;
  readonly reason: string;
}

const EXIT_OF: Readonly<Record<RunOutcome, ExitCodeName>> = {
  violated: 'violated', unknown: 'unknown', void: 'void', 'service-level-missed': 'serviceLevelMissed', green: 'green',
};

function shownProblem({ outcome, what, seen, atLeast, atMost }: ShownVerdict): string | null {
  if (outcome === 'shown') return null;
  if (outcome === 'unknown') return `nobody can count ${what}`;
  const bound = (seen ?? 0) < atLeast ? `at least ${String(atLeast)} are needed` : `at most ${String(atMost)} may be`;
  return `the run did not come to what it tells of: ${String(seen)} ${what}, ${bound}`;
}

interface Judged {
  readonly invariants: readonly InvariantVerdict[];
  readonly serviceLevels: readonly ServiceLevelVerdict[];
  readonly shown: readonly ShownVerdict[];
  readonly load: LoadVerdict;
  readonly faults: readonly FaultRecord[];
}

function outcomeOf(facts: Facts, { invariants, serviceLevels, shown, load, faults }: Judged): Outcome {
  const doubts = [
    ...invariants.filter((verdict) => verdict.outcome === 'unknown').map((verdict) => `${verdict.name}: ${verdict.note}`),
    ...(invariants.length === 0 ? ['the run names no invariant: nothing was judged'] : []),
    ...(facts.faults.present ? faults.flatMap((fault) => faultProblem(fault) ?? []) : [`no evidence of the faults: ${facts.faults.reason}`]),
    ...shown.flatMap((verdict) => shownProblem(verdict) ?? []),
    ...serviceLevels.filter((level) => level.outcome === 'unknown').map((level) => `${level.name}: ${level.note}`),
    ...(load.outcome === 'unknown' ? load.reasons : []),
  ];
  const reasons: Record<RunOutcome, readonly string[]> = {
    violated: invariants.filter((verdict) => verdict.outcome === 'violated').map((verdict) => verdict.name),
    unknown: doubts,
    void: load.outcome === 'void' ? load.reasons : [],
    'service-level-missed': serviceLevels.filter((level) => level.outcome === 'missed').map((level) => level.name),
    green: [],
  };
  const outcomes = Object.keys(reasons) as RunOutcome[];
  const happened = new Set(outcomes.filter((outcome) => reasons[outcome].length > 0).map((outcome) => EXIT_OF[outcome]));
  const name = firstThatApplies(happened);
  const outcome = outcomes.find((candidate) => EXIT_OF[candidate] === name) ?? 'unknown';
  const [first = '', ...more] = reasons[outcome];
  return { outcome, reason: more.length === 0 ? first : `${first} (and ${String(more.length)} more)` };
}

function headlineOf({ outcome, reason }: Outcome, invariants: readonly InvariantVerdict[], figures: RunFigures): string {
  const of = (count: number | null): string => (count === null ? 'an unknown number' : String(count));
  switch (outcome) {
    case 'violated': {
      const broken = invariants.find((verdict) => verdict.outcome === 'violated');
      return `${reason} violated: ${broken?.worst?.claim ?? broken?.note ?? ''}`;
    }
    case 'unknown':
      return `Nobody can say whether all is well: ${reason}.`;
    case 'void':
      return `The load was not what it claims to be: ${reason}.`;
    case 'service-level-missed':
      return `All invariants hold; missed: ${reason}. ${of(figures.orders)} orders of a stock of ${String(figures.stock)}.`;
    case 'green': {
      const excused = figures.excused === 0 ? '' : `, ${String(figures.excused)} losses excused by a proven fault`;
      return `All ${String(invariants.filter((verdict) => verdict.outcome === 'holds').length)} invariants hold: ${of(figures.orders)} orders of a stock of ${String(figures.stock)} from ${of(figures.decided)} answered arrivals${excused}.`;
    }
  }
}

function safely<T>(compute: () => T, otherwise: T): T {
  try {
    return compute();
  } catch {
    return otherwise;
  }
}

function noFigures(facts: Facts): RunFigures {
  return {
    transport: facts.run.load.transport, stock: facts.run.stock, offered: null, issued: null, decided: null, accepted: null, soldOut: null, refusedByCode: {}, orders: null, topicMessages: null,
    topicDuplicates: null, paid: null, released: null, refunds: null, unmatchedPayments: null, deadLetters: null, waitingForHumans: null,
    funnel: { counts: [], restarted: null }, cost: { reachedRedis: null, soldOutKnownMs: null, cpuSeconds: {}, stealSeconds: null }, latencyFromIntended: null, winnersLatency: null, reservationToOrder: null, recoveryMs: null, excused: 0,
  };
}

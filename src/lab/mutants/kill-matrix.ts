/**
 * Runs → kill matrix. Pure: what was run, and how, is decided elsewhere.
 *
 * A mutant is killed when the judge that its file names says violated in at least nine of ten runs; that another judge noticed something does not count,
 * since then the one that should have is blind. The right system must be green under the same plans with the same seeds.
 */
import { ExitCode } from '../../exit-codes.js';
import type { ControlRow, JudgeRow, KillMatrix, MatrixRun, MutantEnd, MutantRow } from '../../facts/kill-matrix.js';
import { SHARED_JUDGES } from './shared-judges.js';

/** What of a mutant the matrix needs. */
export interface MatrixMutant {
  readonly name: string;
  readonly description: string;
  readonly warnedBy: string;
  readonly caughtBy: string;
  readonly showsUnder: { readonly name: string };
}

export interface MatrixQuestion {
  readonly startedAt: string;
  readonly seed: number;
  readonly repeats: number;
  readonly reduced: boolean;
  readonly withoutJudges: readonly string[];
  readonly complete: boolean;
  readonly mutants: readonly MatrixMutant[];
  /** Names of all judges there are, in their order. */
  readonly judges: readonly string[];
  /** Judge → why it need not be the only one that sees some mutant. */
  readonly reasons?: Readonly<Record<string, string>>;
}

/** Nine of ten; of fewer than ten all. */
export function killsNeeded(runs: number): number {
  return Math.ceil(runs * 0.9);
}

export function killMatrix(question: MatrixQuestion, allRuns: readonly MatrixRun[]): KillMatrix {
  const runs = allRuns.map((run) => withoutJudges(run, question.withoutJudges));
  const reasons = question.reasons ?? SHARED_JUDGES;
  const mutants = question.mutants.map((mutant) => mutantRow(mutant, runs.filter((run) => run.mutant === mutant.name)));
  const plans = [...new Set(question.mutants.map((mutant) => mutant.showsUnder.name))];
  const controls = plans.map((plan) => controlRow(plan, runs.filter((run) => run.mutant === null && run.plan === plan)));
  const judges = question.judges.map((name): JudgeRow => ({
    name,
    soleKillerOf: question.mutants.filter((mutant) => isSoleKiller(name, mutant, runs)).map((mutant) => mutant.name),
    sees: mutants.filter((row) => (row.violatedBy[name] ?? 0) > 0).map((row) => row.name),
    reason: reasons[name] ?? null,
  }));
  const blind = blindness(question, mutants, controls, judges);
  const doubts = doubtsOf(mutants, controls);
  const outcome = blind.length > 0 ? 'judges-blind' : doubts.length > 0 ? 'unproven' : 'all-killed';
  const { startedAt, seed, repeats, reduced, complete } = question;
  return {
    schemaVersion: 1, startedAt, seed, repeats, reduced, withoutJudges: question.withoutJudges, complete, mutants, controls, judges,
    problems: [...blind, ...doubts], outcome,
    exitCode: { 'all-killed': ExitCode.green, 'judges-blind': ExitCode.violated, unproven: ExitCode.unknown }[outcome],
  };
}

/** As if the judges had not been there. */
function withoutJudges(run: MatrixRun, names: readonly string[]): MatrixRun {
  return names.length === 0 ? run : { ...run, judges: Object.fromEntries(Object.entries(run.judges).filter(([name]) => !names.includes(name))) };
}

function endOfRun(run: MatrixRun, caughtBy: string): MutantEnd {
  const said = run.judges[caughtBy];
  // Where a fault did not strike nothing was shown: what the judge saw then was something else than it is said to see.
  if (said === 'violated') return run.faultsLanded ? 'killed' : 'unproven';
  // Nor where a judge was kept from judging.
  return run.outcome !== 'failed' && run.faultsLanded && (said === 'holds' || said === undefined) ? 'survived' : 'unproven';
}

function mutantRow(mutant: MatrixMutant, runs: readonly MatrixRun[]): MutantRow {
  const ends = runs.map((run) => endOfRun(run, mutant.caughtBy));
  const count = (end: MutantEnd): number => ends.filter((each) => each === end).length;
  const [killed, survived] = [count('killed'), count('survived')];
  const spare = runs.length - killsNeeded(runs.length);
  const enough = runs.length > 0 && killed >= killsNeeded(runs.length);
  const violatedBy: Record<string, number> = {};
  for (const run of runs) for (const [judge, said] of Object.entries(run.judges)) if (said === 'violated') violatedBy[judge] = (violatedBy[judge] ?? 0) + 1;
  return {
    name: mutant.name, description: mutant.description, warnedBy: mutant.warnedBy, plan: mutant.showsUnder.name, caughtBy: mutant.caughtBy,
    runs: runs.length, killed, survived, unproven: count('unproven'),
    end: enough ? 'killed' : survived > spare ? 'survived' : 'unproven',
    medianMs: median(runs.map((run) => run.tookMs)), violatedBy,
  };
}

function controlRow(plan: string, runs: readonly MatrixRun[]): ControlRow {
  const isAlarm = (run: MatrixRun): boolean => Object.values(run.judges).includes('violated');
  const green = runs.filter((run) => run.outcome === 'green').length;
  const alarms = runs.filter(isAlarm).length;
  return { plan, runs: runs.length, green, alarms, unproven: runs.length - green - alarms, medianMs: median(runs.map((run) => run.tookMs)) };
}

/** Without this judge fewer of the mutant's runs would have been noticed by anybody than have to be. */
function isSoleKiller(judge: string, mutant: MatrixMutant, all: readonly MatrixRun[]): boolean {
  const runs = all.filter((run) => run.mutant === mutant.name);
  if (mutant.caughtBy !== judge || runs.filter((run) => run.judges[judge] === 'violated').length < killsNeeded(runs.length) || runs.length === 0) return false;
  const noticed = runs.filter((run) => Object.entries(run.judges).some(([name, said]) => name !== judge && said === 'violated'));
  return noticed.length < killsNeeded(runs.length);
}

function blindness({ complete, judges: known, withoutJudges: left }: MatrixQuestion, mutants: readonly MutantRow[], controls: readonly ControlRow[], judges: readonly JudgeRow[]): string[] {
  const idle = complete ? judges.filter((judge) => judge.soleKillerOf.length === 0 && judge.reason === null) : [];
  return [
    ...controls.filter((row) => row.alarms > 0).map((row) => `the system as it is was called wrong in ${String(row.alarms)} of ${String(row.runs)} runs of ${row.plan}`),
    ...mutants.filter((row) => row.end === 'survived').map((row) => `${row.name} survives: ${row.caughtBy} said violated in ${String(row.killed)} of ${String(row.runs)} runs`),
    ...idle.map((judge) => `${judge.name} is no mutant's only killer, and no reason is given`),
    ...(complete ? left.filter((name) => !known.includes(name)).map((name) => `there is no judge ${name}`) : []),
  ];
}

function doubtsOf(mutants: readonly MutantRow[], controls: readonly ControlRow[]): string[] {
  return [
    ...mutants.filter((row) => row.end === 'unproven').map((row) => `${row.name} is unproven: killed in ${String(row.killed)} of ${String(row.runs)} runs, ${String(row.unproven)} showed nothing`),
    ...controls.filter((row) => row.alarms === 0 && row.green < killsNeeded(row.runs)).map((row) => `the right system was green in ${String(row.green)} of ${String(row.runs)} runs of ${row.plan}, the others showed nothing`),
    ...controls.filter((row) => row.runs === 0).map((row) => `there was no run of the right system under ${row.plan}`),
  ];
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

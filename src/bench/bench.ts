/** What every bench is to the entry: it measures, prints, and says whether its bars are reached. */
import { stealSeconds } from '../lab/storm-cost.js';
import type { RunningStack } from '../stack/running-stack.js';
import { compare, type Comparison } from './comparison.js';
import { tryOut, type Trial } from './trial.js';

/** Counted rounds of every measurement. */
export const ROUNDS = 5;

export interface BenchTools {
  /** One stack for all benches of a run, started when the first one asks. */
  stack(): Promise<RunningStack>;
  readonly print: (line: string) => void;
}

export interface Bench {
  readonly name: string;
  /** Rejects with LabError MISSING_DEPENDENCY where a tool is not there. */
  run(tools: BenchTools): Promise<boolean>;
}

async function withSteal(tools: BenchTools, measure: () => Promise<boolean>): Promise<boolean> {
  const before = stealSeconds();
  const reached = await measure();
  tools.print(`  taken away by the host meanwhile: ${(stealSeconds() - before).toFixed(2)} s of processor time`);
  return reached;
}

/** Comparisons one after the other; each is made when its turn comes. */
export async function compareAll(tools: BenchTools, comparisons: readonly Comparison[]): Promise<boolean> {
  let reached = true;
  for (const comparison of comparisons) reached = (await withSteal(tools, () => compare(comparison, ROUNDS, tools.print))) && reached;
  return reached;
}

export function tryAll(tools: BenchTools, trial: Trial): Promise<boolean> {
  return withSteal(tools, () => tryOut(trial, ROUNDS, tools.print));
}

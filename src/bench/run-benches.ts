/** From names to an exit code. */
import { LabError } from '../facts/lab-error.js';
import type { Bench, BenchTools } from './bench.js';

/** The benches asked for, or all. LabError USAGE names every unknown one. */
export function choose(benches: readonly Bench[], names: readonly string[]): readonly Bench[] {
  const known = benches.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new LabError('USAGE', `there is no bench ${unknown.join(', ')}`, `there are ${known.join(', ')}`);
  return names.length === 0 ? benches : benches.filter(({ name }) => names.includes(name));
}

type Ending = 'reached' | 'missed' | 'tool-missing';

/** A bench that fails has reached nothing. */
async function ending(bench: Bench, tools: BenchTools): Promise<Ending> {
  try {
    return (await bench.run(tools)) ? 'reached' : 'missed';
  } catch (cause) {
    const isLab = cause instanceof LabError;
    tools.print(`${bench.name}: NOT MEASURED: ${isLab ? [cause.message, ...cause.details].join('\n  ') : cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`);
    if (isLab) tools.print(`  next: ${cause.nextStep}`);
    return isLab && cause.code === 'MISSING_DEPENDENCY' ? 'tool-missing' : 'missed';
  }
}

/**
 * Runs one after the other, all of them whatever the first ones come to. 0: every bar is reached. 1: a bar is missed, or a bench could not measure (a run that
 * violates an invariant is no measurement). 2: nothing worse than that a tool is not there.
 */
export async function runBenches(benches: readonly Bench[], tools: BenchTools): Promise<0 | 1 | 2> {
  const endings = new Set<Ending>();
  for (const bench of benches) endings.add(await ending(bench, tools));
  if (endings.has('missed')) return 1;
  return endings.has('tool-missing') ? 2 : 0;
}

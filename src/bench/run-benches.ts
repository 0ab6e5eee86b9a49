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

/** Runs one after the other, all of them whatever the first ones come to: 0, or 1 when any bar is missed. */
export async function runBenches(benches: readonly Bench[], tools: BenchTools): Promise<0 | 1> {
  let reached = true;
  for (const bench of benches) reached = (await bench.run(tools)) && reached;
  return reached ? 0 : 1;
}

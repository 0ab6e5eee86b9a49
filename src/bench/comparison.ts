/**
 * Two sides measured in one run, turn and turn about, so that the slow phases of a machine hit both (absolute figures of a small virtual machine
 * move by a factor of three; ratios do not). The verdict is the median of the ratios of the pairs.
 */
export interface Comparison {
  readonly name: string;
  /** What one figure means, with its unit. */
  readonly figure: string;
  readonly slowSide: string;
  readonly fastSide: string;
  /** slow / fast must reach this. */
  readonly bar: number;
  /** One measurement of a side. */
  measure(side: 'slow' | 'fast', round: number): Promise<number>;
}

export function median(values: readonly number[]): number {
  const rising = values.toSorted((left, right) => left - right);
  const middle = Math.floor(rising.length / 2);
  return rising.length % 2 === 1 ? (rising[middle] ?? Number.NaN) : ((rising[middle - 1] ?? Number.NaN) + (rising[middle] ?? Number.NaN)) / 2;
}

const spread = (values: readonly number[]): string => `${median(values).toFixed(2)} (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`;

/** Runs `pairs` pairs after one that only warms up, prints them and says whether the bar is reached. */
export async function compare(comparison: Comparison, pairs: number, print: (line: string) => void): Promise<boolean> {
  const slow: number[] = [];
  const fast: number[] = [];
  for (let round = 0; round <= pairs; round += 1) {
    // The side that begins changes, so that neither always follows the other.
    const order = round % 2 === 0 ? (['slow', 'fast'] as const) : (['fast', 'slow'] as const);
    for (const side of order) {
      const value = await comparison.measure(side, round);
      if (round > 0) (side === 'slow' ? slow : fast).push(value);
    }
  }
  const ratios = slow.map((value, index) => value / (fast[index] ?? Number.NaN));
  const reached = median(ratios) >= comparison.bar;
  print(`${comparison.name}: ${comparison.figure}, median (min–max) of ${String(pairs)} pairs`);
  print(`  ${comparison.slowSide}  ${spread(slow)}`);
  print(`  ${comparison.fastSide}  ${spread(fast)}`);
  print(`  ratio ${spread(ratios)}, bar ≥ ${String(comparison.bar)}: ${reached ? 'reached' : 'MISSED'}`);
  return reached;
}

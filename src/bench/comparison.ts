/**
 * Sides measured in one run, turn and turn about, so that the slow phases of a machine hit all of them (absolute figures of a small virtual machine
 * move by a factor of three; ratios do not). The verdict is the median of the ratios of the rounds.
 */
import { inWords, median, reaches, spread, type Bound } from './bound.js';

export interface Side {
  readonly label: string;
  /** One measurement. */
  measure(round: number): Promise<number>;
}

/** `over` / `under`, labels of two sides, must reach the bound. */
export interface RatioBar {
  readonly over: string;
  readonly under: string;
  readonly bound: Bound;
}

export interface Comparison {
  readonly name: string;
  /** What one figure means, with its unit. */
  readonly figure: string;
  readonly sides: readonly Side[];
  readonly bars: readonly RatioBar[];
  /** What else a reader should know of the measurement, asked for at its end. */
  notes?(): readonly string[];
}

/** Whose turn it is: each round another side begins, and every second one goes backwards, so that nobody always follows the same. */
function orderOf(round: number, sides: readonly Side[]): readonly Side[] {
  const first = Math.floor(round / 2) % sides.length;
  const rotated = [...sides.slice(first), ...sides.slice(0, first)];
  return round % 2 === 0 ? rotated : rotated.toReversed();
}

/** A side that measured nothing would make any ratio good. */
function figureOf(value: number, label: string): number {
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${label.trim()} measured ${String(value)}, which is no figure`);
  return value;
}

type Values = ReadonlyMap<string, number[]>;

/** One round of all sides; round 0 only warms up. */
async function measureRound(comparison: Comparison, round: number, values: Values): Promise<void> {
  for (const side of orderOf(round, comparison.sides)) {
    const value = figureOf(await side.measure(round), side.label);
    if (round > 0) values.get(side.label)?.push(value);
  }
}

/** Runs `rounds` rounds after one that only warms up, prints them and says whether every bar is reached. A round that fails ends it: what was measured before is told, and reaches nothing. */
export async function compare(comparison: Comparison, rounds: number, print: (line: string) => void): Promise<boolean> {
  const values: Values = new Map(comparison.sides.map(({ label }) => [label, []]));
  for (let round = 0; round <= rounds; round += 1) {
    try {
      await measureRound(comparison, round, values);
    } catch (cause) {
      print(`${comparison.name}: round ${String(round)} of ${String(rounds)} FAILED, measured before`);
      for (const [label, of] of values) if (of.length > 0) print(`  ${label}  ${spread(of)}`);
      throw cause;
    }
  }
  print(`${comparison.name}: ${comparison.figure}, median (min–max) of ${String(rounds)} rounds`);
  for (const [label, of] of values) print(`  ${label}  ${spread(of)}`);
  let reached = true;
  for (const { over, under, bound } of comparison.bars) {
    const below = values.get(under) ?? [];
    const ratios = (values.get(over) ?? []).map((value, index) => value / (below[index] ?? Number.NaN));
    const holds = reaches(median(ratios), bound);
    reached &&= holds;
    print(`  ${over.trim()} / ${under.trim()}  ${spread(ratios)}, bar ${inWords(bound)}: ${holds ? 'reached' : 'MISSED'}`);
  }
  for (const note of comparison.notes?.() ?? []) print(`  ${note}`);
  return reached;
}

/** A measurement without another side: the same several times over, each figure's median against its bound. */
import { inWords, median, reaches, spread, type Bound } from './bound.js';

export interface TrialFigure {
  readonly label: string;
  /** null: only told. */
  readonly bound: Bound | null;
}

export interface Trial {
  readonly name: string;
  readonly figures: readonly TrialFigure[];
  /** One value per figure, in their order. */
  measure(round: number): Promise<readonly number[]>;
}

/** Runs `rounds` rounds, prints the medians and says whether every bound is reached. A round that fails ends it: what was measured before is told, and reaches nothing. */
export async function tryOut(trial: Trial, rounds: number, print: (line: string) => void): Promise<boolean> {
  const values: (readonly number[])[] = [];
  const columnOf = (place: number): readonly number[] => values.map((row) => row[place] ?? Number.NaN);
  try {
    for (let round = 1; round <= rounds; round += 1) values.push(await trial.measure(round));
  } catch (cause) {
    print(`${trial.name}: round ${String(values.length + 1)} of ${String(rounds)} FAILED, measured before`);
    if (values.length > 0) trial.figures.forEach(({ label }, place) => { print(`  ${label}  ${spread(columnOf(place))}`); });
    throw cause;
  }
  print(`${trial.name}: median (min–max) of ${String(rounds)} rounds`);
  let reached = true;
  trial.figures.forEach(({ label, bound }, place) => {
    const of = columnOf(place);
    const holds = bound === null || reaches(median(of), bound);
    reached &&= holds;
    print(`  ${label}  ${spread(of)}${bound === null ? '' : `, bar ${inWords(bound)}: ${holds ? 'reached' : 'MISSED'}`}`);
  });
  return reached;
}

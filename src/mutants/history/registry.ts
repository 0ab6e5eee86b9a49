/** All history mutants, and what became of each on the facts of one run. */
import { ANSWER_MUTANTS } from './answer-mutants.js';
import { FIGURE_MUTANTS } from './figure-mutants.js';
import type { HistoryMutant } from './history-mutant.js';
import { ROW_MUTANTS } from './row-mutants.js';
import { TIME_MUTANTS } from './time-mutants.js';

export const HISTORY_MUTANTS: readonly HistoryMutant[] = [...ROW_MUTANTS, ...FIGURE_MUTANTS, ...ANSWER_MUTANTS, ...TIME_MUTANTS];

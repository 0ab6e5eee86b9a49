/** All history mutants, and what became of each on the facts of one run. */
import { ANSWER_MUTANTS } from './answer-mutants.js';
import { DOOR_MUTANTS } from './door-mutants.js';
import { FIGURE_MUTANTS } from './figure-mutants.js';
import type { HistoryMutant } from './history-mutant.js';
import { RETIME_MUTANTS } from './retime-mutants.js';
import { ROW_MUTANTS } from './row-mutants.js';
import { TIME_MUTANTS } from './time-mutants.js';

export const HISTORY_MUTANTS: readonly HistoryMutant[] = [...ROW_MUTANTS, ...FIGURE_MUTANTS, ...ANSWER_MUTANTS, ...TIME_MUTANTS, ...RETIME_MUTANTS, ...DOOR_MUTANTS];

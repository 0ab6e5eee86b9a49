/**
 * The client history of a run from its folder, checked against the plan that the spec expands to: what was asked for is never taken from the
 * generator's word.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expandArrivalPlan } from '../facts/arrival-plan.js';
import { decodeHistory, decodeTellings } from '../facts/history-file.js';
import type { GeneratorFacts, HistoryColumns, HistoryFacts } from '../facts/history.js';
import { measureGenerator } from '../facts/load-honesty.js';
import type { LoadSpec } from '../facts/load-spec.js';
import { TELLINGS_FILE_NAME } from './tellings-file.js';
import { HISTORY_FILE_NAME } from './write-history.js';

/** Intended times may differ from start + due by rounding only. */
const SCHEDULE_TOLERANCE_US = 1;

function scheduleProblems(columns: HistoryColumns, startedUs: number, dueUs: Float64Array): string[] {
  let moved = 0;
  for (let index = 0; index < dueUs.length; index += 1) {
    const offUs = Math.abs((columns.intendedUs[index] ?? NaN) - startedUs - (dueUs[index] ?? NaN));
    // Rows that are missing are another problem, told already.
    if (offUs > SCHEDULE_TOLERANCE_US) moved += 1;
  }
  return moved === 0 ? [] : [`${String(moved)} arrivals have another intended time than the plan gives them`];
}

function accountProblems(told: GeneratorFacts, measured: GeneratorFacts): string[] {
  const counts = ['scheduled', 'issued', 'answered', 'dropped', 'notSent', 'indeterminate'] as const;
  return counts.filter((count) => told[count] !== measured[count])
    .map((count) => `the generator says ${count} ${String(told[count])}, its rows say ${String(measured[count])}`);
}

async function readOrNull<Value>(read: Promise<Value>): Promise<Value | null> {
  try {
    return await read;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Reads `history.bin` and `history.ndjson`. Missing, torn or changed files come back as `complete: false` with the problems in words, and arrivals
 * without a row as `indeterminate`; rejects only when the file system does. Counts and lateness are measured from the rows.
 */
export async function readHistory(directory: string, load: LoadSpec): Promise<HistoryFacts> {
  const plan = expandArrivalPlan(load);
  const [bytes, text] = await Promise.all([
    readOrNull(readFile(join(directory, HISTORY_FILE_NAME))),
    readOrNull(readFile(join(directory, TELLINGS_FILE_NAME), 'utf8')),
  ]);
  const problems: string[] = [];
  if (bytes === null) problems.push(`${HISTORY_FILE_NAME} is missing: the generator did not finish the storm`);
  if (text === null) problems.push(`${TELLINGS_FILE_NAME} is missing`);
  const history = decodeHistory(bytes ?? new Uint8Array(0), plan.length);
  const told = decodeTellings(text ?? '');
  if (bytes !== null) problems.push(...history.problems, ...scheduleProblems(history.columns, history.startedUs, plan.dueUs));
  if (text !== null) problems.push(...told.problems);
  const { cpuSeconds, maxTickGapUs } = told.generator ?? { cpuSeconds: 0, maxTickGapUs: 0 };
  const generator = measureGenerator(history.columns, { cpuSeconds, maxTickGapUs });
  if (told.generator !== null && history.problems.length === 0) problems.push(...accountProblems(told.generator, generator));
  return { columns: history.columns, tellings: told.tellings, payerTellings: told.payerTellings, generator, complete: problems.length === 0, problems };
}

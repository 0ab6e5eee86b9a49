/** A sweep as a table, step × action → verdict and recovery time, and as one outcome. Pure. */
import { SWEEP_ACTIONS, type SweepAction, type SweepHead, type SweepOutcome, type SweepRow } from '../facts/sweep.js';

/** Worst first. */
const OUTCOMES: readonly SweepOutcome[] = ['violated', 'failed', 'unknown', 'void', 'service-level-missed', 'green'];
const WORDS: Readonly<Record<SweepOutcome, string>> = { violated: 'VIOLATED', failed: 'not carried out', unknown: 'unknown', void: 'void', 'service-level-missed': 'late', green: 'holds' };

/** The worst of all; `unknown` also where a step was not reached, a case has no row yet, or nothing was run. */
export function sweepOutcome(head: SweepHead, rows: readonly SweepRow[]): Exclude<SweepOutcome, 'failed' | 'void'> {
  const found = new Set(rows.map(({ outcome }) => outcome));
  if (found.has('violated')) return 'violated';
  const done = new Set(rows.map(({ id }) => id));
  const isWhole = head.unreached.length === 0 && head.cases.length > 0 && head.cases.every(({ id }) => done.has(id));
  if (!isWhole || found.has('failed') || found.has('unknown') || found.has('void')) return 'unknown';
  return found.has('service-level-missed') ? 'service-level-missed' : 'green';
}

function cell(rows: readonly SweepRow[], expected: number): string {
  if (expected === 0) return '–';
  const worst = OUTCOMES.find((outcome) => rows.some((row) => row.outcome === outcome));
  if (worst === undefined) return 'not run';
  const slowest = Math.max(...rows.map(({ recoveryMs }) => recoveryMs ?? 0));
  const where = worst === 'green' ? '' : ` (${rows.filter(({ outcome }) => outcome === worst).map(({ strikes }) => strikes[0]?.when ?? '').join(', ')})`;
  const missing = rows.length < expected ? `, ${String(expected - rows.length)} not run` : '';
  return `${WORDS[worst]}${where} ${String(rows.length)}×${slowest > 0 ? ` ${(slowest / 1000).toFixed(1)} s` : ''}${missing}`;
}

/** Markdown: a row per step, then the pairs, then what is not well, each with its folder. Times are the slowest recovery of the cell. */
export function sweepTable(head: SweepHead, rows: readonly SweepRow[]): string {
  const byId = new Map(rows.map((row) => [row.id, row]));
  const singles = head.cases.filter(({ strikes }) => strikes.length === 1);
  const steps = [...new Set(singles.map(({ strikes }) => strikes[0]?.step ?? ''))];
  const of = (step: string, action: SweepAction) => singles.filter(({ strikes }) => strikes[0]?.step === step && strikes[0].action === action);
  const lines = [
    `| step | ${SWEEP_ACTIONS.join(' | ')} |`,
    `| --- |${SWEEP_ACTIONS.map(() => ' --- |').join('')}`,
    ...steps.map((step) => `| ${step} | ${SWEEP_ACTIONS.map((action) => cell(of(step, action).flatMap(({ id }) => byId.get(id) ?? []), of(step, action).length)).join(' | ')} |`),
    ...head.unreached.map((step) => `| ${step} | never reached | never reached | never reached |`),
  ];
  const pairs = head.cases.filter(({ strikes }) => strikes.length > 1);
  const pairRows = pairs.flatMap(({ id }) => byId.get(id) ?? []);
  if (pairs.length > 0) lines.push('', `pairs: ${String(pairRows.filter(({ outcome }) => outcome === 'green').length)} of ${String(pairs.length)} hold`);
  for (const row of rows.filter(({ outcome }) => outcome !== 'green')) lines.push('', `${WORDS[row.outcome]}: ${row.id}`, `  ${row.headline}`, `  ${row.directory ?? ''}`);
  const again = rows.filter(({ attempts }) => attempts > 1).length;
  const nearer = rows.filter((row) => row.isNearer).map(({ id, strikes }) => `${id} (hit ${strikes.map(({ hit }) => String(hit)).join(', ')})`);
  if (nearer.length > 0) lines.push('', `at an earlier hit than asked, which the first attempt did not come to: ${nearer.join('; ')}`);
  lines.push('', `${String(rows.length)} of ${String(head.cases.length)} cases, ${String(again)} of them at the second attempt; seed ${String(head.seed)}${head.mutant === null ? '' : `, mutant ${head.mutant}`}`);
  return `${lines.join('\n')}\n`;
}

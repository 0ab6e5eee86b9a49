/** `summary.md`: the verdict for a person, most important first. Of a violated run that is the witness, and no speed is told at all. */
import type { FaultRecord } from '../facts/fault-record.js';
import type { LoadVerdict, RunVerdict } from '../facts/verdict.js';
import {
  biographyInWords, countInWords, countsInWords, funnelCaveat, funnelInWords, funnelSum, leadingWitness, microsecondsInWords, outcomeInWords, serviceLevelInWords, shareInWords, shownInWords, speedsInWords,
} from '../facts/verdict-in-words.js';

/** Text that cannot break out of a table cell. */
function cell(text: string): string {
  return text.replace(/\\/g, '\\\\').replace(/\|/g, '\\|').replace(/</g, '&lt;').replace(/\s*[\r\n]+\s*/g, ' ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${head.map(() => ' --- ').join('|')}|`, ...rows.map(line), ''];
}

function witnessSection(verdict: RunVerdict): string[] {
  const leading = leadingWitness(verdict);
  if (leading === null) return [];
  const { invariant, witness } = leading;
  // An indented block needs no fence, so no text of a witness can close it.
  const story = biographyInWords(witness).map((line) => `    ${line}`);
  return [`## Witness against ${invariant}`, '', cell(`${witness.kind} \`${witness.id}\`: ${witness.claim}`), '', ...story, ''];
}

function loadSection(load: LoadVerdict): string[] {
  const lines = ['## Load', '', `The load is **${load.outcome}**${load.reasons.length === 0 ? '.' : `: ${cell(load.reasons.join('; '))}`}`, ''];
  const generator = load.generator;
  if (generator === null) return lines;
  const issued = generator.scheduled === 0 ? '–' : shareInWords(generator.issued / generator.scheduled);
  return [...lines, ...table(['of the generator', 'figure'], [
    ['scheduled', countInWords(generator.scheduled)],
    ['issued', `${countInWords(generator.issued)} (${issued})`],
    ['answered', countInWords(generator.answered)],
    ['no answer, outcome indeterminate', countInWords(generator.indeterminate)],
    ['surely not sent', countInWords(generator.notSent)],
    ['dropped by the generator', countInWords(generator.dropped)],
    ['lateness p50 / p99 / max', [generator.latenessP50Us, generator.latenessP99Us, generator.latenessMaxUs].map(microsecondsInWords).join(' / ')],
    ['longest gap between ticks', microsecondsInWords(generator.maxTickGapUs)],
    ['CPU', `${generator.cpuSeconds.toFixed(2)} s`],
  ])];
}

function funnelSection(figures: RunVerdict['figures']): string[] {
  const rows = funnelInWords(figures);
  if (rows.length === 0) return [];
  const notes = [funnelSum(figures)?.text ?? null, funnelCaveat(figures)].filter((note) => note !== null);
  return ['## Admission funnel', '', ...table(['layer', 'passed', 'kept away'], rows), ...notes.flatMap((note) => [cell(note), ''])];
}

function faultSection(faults: readonly FaultRecord[]): string[] {
  if (faults.length === 0) return ['## Faults', '', 'None.', ''];
  const rows = faults.map((fault) => [
    fault.id, fault.proof, `${countInWords(fault.strikes)} of ${countInWords(fault.strikesAsked)}`, fault.prediction, fault.observed,
    fault.healed ? `healed: ${fault.healObserved}` : `NOT healed: ${fault.healObserved}`,
  ]);
  return ['## Faults', '', ...table(['fault', 'proof', 'strikes', 'predicted', 'observed', 'heal'], rows)];
}

export function summaryOf(verdict: RunVerdict): string {
  const { run } = verdict;
  const judges = verdict.invariants.map((judge) => {
    const excused = judge.excused > 0 ? ` (${countInWords(judge.excused)} excused)` : '';
    return [judge.name, judge.outcome, countInWords(judge.checked), `${countInWords(judge.violations)}${excused}`, judge.note];
  });
  const lines = [
    `# ${run.scenario}: ${outcomeInWords(verdict.outcome)}`, '', cell(verdict.headline), '',
    `Run \`${run.id}\`, seed ${String(run.seed)}, started ${run.startedAt}, exit code ${String(verdict.exitCode)}.`, '',
    ...witnessSection(verdict),
    '## Figures', '', ...table(['what', 'figure'], [...countsInWords(verdict.figures), ...speedsInWords(verdict)]),
    ...funnelSection(verdict.figures),
    '## Invariants', '', ...table(['invariant', 'outcome', 'checked', 'violations', 'note'], judges),
  ];
  if (verdict.serviceLevels.length > 0) {
    const rows = verdict.serviceLevels.map((level) => [level.name, level.outcome, serviceLevelInWords(verdict, level), level.note]);
    lines.push('## Service levels', '', ...table(['service level', 'outcome', 'measured', 'note'], rows));
  }
  if (verdict.shown.length > 0) {
    lines.push('## What it had to come to', '', ...table(['figure', 'outcome', 'seen', 'what'], verdict.shown.map((one) => [one.figure, one.outcome, shownInWords(one), one.what])));
  }
  lines.push(...faultSection(verdict.faults), ...loadSection(verdict.load));
  lines.push(`Judge it again: \`seckill-lab check ${run.directory}\``, '');
  return lines.join('\n');
}

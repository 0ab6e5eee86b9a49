/** What `run` and `check` print at the end: the headline, what each judge says, the first witness, and where the rest is. Plain text. */
import type { RunVerdict } from '../facts/verdict.js';
import {
  biographyInWords, countInWords, countsInWords, funnelCaveat, funnelInWords, funnelSum, leadingWitness, outcomeInWords, serviceLevelInWords, shownInWords, speedsInWords,
} from '../facts/verdict-in-words.js';

/** Biographies can be long; the whole one is in summary.md. */
const BIOGRAPHY_LINES = 20;

function columns(texts: readonly (readonly string[])[]): string[] {
  const rows = texts.map((row) => row.map((text) => text.replace(/\s*[\r\n]+\s*/g, ' ')));
  const widths: number[] = [];
  for (const row of rows) row.forEach((text, index) => { widths[index] = Math.max(widths[index] ?? 0, text.length); });
  return rows.map((row) => `  ${row.map((text, index) => (index === row.length - 1 ? text : text.padEnd(widths[index] ?? 0))).join('  ')}`.trimEnd());
}

function judgeLines(verdict: RunVerdict): string[] {
  const marks = { holds: '✓', violated: '✗', unknown: '?', 'not-judged': '–' } as const;
  const rows = verdict.invariants.map((judge) => {
    const figures = judge.outcome === 'violated' ? `${countInWords(judge.violations)} of ${countInWords(judge.checked)}` : countInWords(judge.checked);
    return [`${marks[judge.outcome]} ${judge.name}`, judge.outcome, figures, judge.outcome === 'holds' ? '' : judge.note];
  });
  return rows.length === 0 ? [] : ['', 'invariants', ...columns(rows)];
}

function serviceLevelLines(verdict: RunVerdict): string[] {
  const marks = { met: '✓', missed: '✗', unknown: '?', 'not-judged': '–' } as const;
  const rows = verdict.serviceLevels.map((level) => [`${marks[level.outcome]} ${level.name}`, level.outcome, serviceLevelInWords(verdict, level), level.outcome === 'met' ? '' : level.note]);
  return rows.length === 0 ? [] : ['', 'service levels', ...columns(rows)];
}

function shownLines(verdict: RunVerdict): string[] {
  const rows = verdict.shown.map((shown) => [`${shown.outcome === 'shown' ? '✓' : '?'} ${shown.figure}`, shown.outcome, shownInWords(shown), shown.what]);
  return rows.length === 0 ? [] : ['', 'came to', ...columns(rows)];
}

function faultLines(verdict: RunVerdict): string[] {
  const rows = verdict.faults.map((fault) => [
    `${fault.proof === 'landed' && fault.healed ? '✓' : '?'} ${fault.id}`, fault.proof, `${countInWords(fault.strikes)} of ${countInWords(fault.strikesAsked)}`,
    fault.healed ? 'healed' : 'NOT healed', fault.observed,
  ]);
  return rows.length === 0 ? [] : ['', 'faults', ...columns(rows)];
}

function witnessLines(verdict: RunVerdict): string[] {
  const leading = leadingWitness(verdict);
  if (leading === null) return [];
  const { invariant, witness } = leading;
  const story = biographyInWords(witness);
  const cut = story.length > BIOGRAPHY_LINES ? [`… ${String(story.length - BIOGRAPHY_LINES)} more lines in summary.md`] : [];
  return ['', `witness against ${invariant}`, `  ${witness.kind} ${witness.id}: ${witness.claim}`, ...[...story.slice(0, BIOGRAPHY_LINES), ...cut].map((line) => `    ${line}`)];
}

/** Ends with a newline. `notes` stand before the last line, such as "facts were changed after the run". */
/** What each layer of the gateways' funnel kept away. */
function funnelLines({ figures }: RunVerdict): readonly string[] {
  const rows = funnelInWords(figures);
  if (rows.length === 0) return [];
  const notes = [funnelSum(figures)?.text ?? null, funnelCaveat(figures)].filter((note) => note !== null);
  return ['', 'admission funnel', ...columns(rows.map(([layer, passed, refused]) => [layer, `${passed} passed, ${refused} kept away`])), ...notes];
}

export function finalReport(verdict: RunVerdict, notes: readonly string[] = []): string {
  const load = verdict.load.outcome === 'valid' ? [] : ['', `load ${verdict.load.outcome}: ${verdict.load.reasons.join('; ')}`];
  return [
    `${outcomeInWords(verdict.outcome)}  ${verdict.run.scenario}: ${verdict.headline}`,
    ...witnessLines(verdict),
    ...judgeLines(verdict),
    ...serviceLevelLines(verdict),
    ...shownLines(verdict),
    ...faultLines(verdict),
    ...load,
    '', 'figures', ...columns([...countsInWords(verdict.figures), ...speedsInWords(verdict)]),
    ...funnelLines(verdict),
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `note: ${note}`)]),
    '', `report ${verdict.run.directory}  (exit code ${String(verdict.exitCode)}, seed ${String(verdict.run.seed)})`, '',
  ].join('\n');
}

/** The kill matrix for people: who was killed by whom, the controls, and what each judge is needed for. */
import type { KillMatrix } from '../facts/kill-matrix.js';

export function matrixInMarkdown(matrix: KillMatrix): string {
  const lines = [
    '# Kill matrix',
    '',
    `Begun ${matrix.startedAt}, seed ${String(matrix.seed)}, ${String(matrix.repeats)} ${matrix.repeats === 1 ? 'repeat' : 'repeats'}${matrix.reduced ? ', reduced' : ''}. Outcome: **${matrix.outcome}** (exit code ${String(matrix.exitCode)}).`,
    ...(matrix.withoutJudges.length === 0 ? [] : ['', `Judges left out: ${matrix.withoutJudges.join(', ')}.`]),
    '',
    ...(matrix.problems.length === 0 ? [] : ['## What is wrong', '', ...matrix.problems.map((problem) => `- ${problem}`), '']),
    '## Mutants',
    '',
    '| mutant | warned by | plan | must be caught by | killed | median | also seen by |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...matrix.mutants.map((row) => {
      const others = Object.entries(row.violatedBy).filter(([judge]) => judge !== row.caughtBy).sort(([, one], [, other]) => other - one).map(([judge, count]) => `${judge} ${String(count)}`);
      return `| ${row.name} | ${row.warnedBy} | ${row.plan} | ${row.caughtBy} | ${String(row.killed)} of ${String(row.runs)}${row.end === 'killed' ? '' : ` **${row.end}**`} | ${seconds(row.medianMs)} | ${others.join(', ')} |`;
    }),
    '',
    '## Mutants × judges',
    '',
    ...grid(matrix),
    '',
    '## The system as it is, under the same plans',
    '',
    '| plan | runs | green | alarms | unproven | median |',
    '| --- | --- | --- | --- | --- | --- |',
    ...matrix.controls.map((row) => `| ${row.plan} | ${String(row.runs)} | ${String(row.green)} | ${String(row.alarms)} | ${String(row.unproven)} | ${seconds(row.medianMs)} |`),
    '',
    '## What each judge is needed for',
    '',
    '| judge | only killer of | sees | why it need not be an only killer |',
    '| --- | --- | --- | --- |',
    ...matrix.judges.map((row) => `| ${row.name} | ${row.soleKillerOf.join(', ') || '–'} | ${String(row.sees.length)} | ${row.reason ?? ''} |`),
    '',
  ];
  return lines.join('\n');
}

/** Columns are numbered, since nineteen names would be wider than any page. */
function grid({ judges, mutants }: KillMatrix): string[] {
  return [
    judges.map((judge, index) => `${String(index + 1)} ${judge.name}`).join(' · '),
    '',
    `| mutant | ${judges.map((_judge, index) => String(index + 1)).join(' | ')} |`,
    `| --- |${judges.map(() => ' --- |').join('')}`,
    ...mutants.map((row) => {
      const cells = judges.map(({ name }) => {
        const count = row.violatedBy[name] ?? 0;
        if (count === 0) return '';
        return name === row.caughtBy ? `**${String(count)}**` : String(count);
      });
      return `| ${row.name} | ${cells.join(' | ')} |`;
    }),
  ];
}

function seconds(ms: number | null): string {
  return ms === null ? '–' : `${(ms / 1000).toFixed(1)} s`;
}

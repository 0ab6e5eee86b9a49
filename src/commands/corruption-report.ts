/** What became of the facts that were made untrue on purpose, for a reader: how many were noticed, by whom, and above all what nobody noticed. */
import type { CorruptedCase, CorruptionOutcome } from '../lab/judge-corrupted.js';

export function corruptionReport({ cases, notApplicable }: CorruptionOutcome): string {
  const problems = cases.filter((each) => each.problem !== '');
  const kinds = new Set(cases.map((each) => each.mutant)).size;
  const times = cases.map((each) => each.tookMs).sort((left, right) => left - right);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  const noticed = cases.filter((each) => each.violated.length + each.unknown.length > 0).length;
  return [
    '',
    `corrupted facts: ${String(cases.length)} corruptions of ${String(kinds)} kinds, ${String(noticed)} noticed, ${String(cases.length - noticed - problems.length)} legal and left alone, ${String(problems.length)} judged wrongly; ${median.toFixed(1)} ms each`,
    ...(notApplicable.length === 0 ? [] : [`  nothing of the kind in this run: ${notApplicable.join(', ')}`]),
    ...[...countsOf(cases)].map(([judge, count]) => `  ${judge.padEnd(24)} noticed ${String(count)}`),
    ...problems.map((each) => `  WRONG ${each.mutant} ×${String(each.magnitude)}, repeat ${String(each.repeat)}: ${each.problem} (${[...each.violated, ...each.unknown].join(', ') || 'nobody'})`),
    '',
  ].join('\n');
}

function countsOf(cases: readonly CorruptedCase[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const judge of cases.flatMap((each) => [...each.violated, ...each.unknown])) counts.set(judge, (counts.get(judge) ?? 0) + 1);
  return new Map([...counts].sort(([, left], [, right]) => right - left));
}

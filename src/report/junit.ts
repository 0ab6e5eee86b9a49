/**
 * `junit.xml`: one test case per invariant, per service level, per thing to be shown, per fault proof, and one for the honesty of the load, so that any CI shows
 * the verdict without knowing this program. Violated or missed is a failure; what could not be judged is an error, never a pass.
 */
import type { FaultRecord } from '../facts/fault-record.js';
import type { InvariantVerdict, LoadVerdict, RunVerdict, ServiceLevelVerdict, ShownVerdict } from '../facts/verdict.js';
import { biographyInWords, countInWords, serviceLevelInWords, shownInWords } from '../facts/verdict-in-words.js';

interface TestCase {
  readonly name: string;
  readonly result: 'passed' | 'failure' | 'error' | 'skipped';
  /** Why it is as it is; of a passed case: what was seen. */
  readonly message: string;
  readonly details: string;
}

/** XML 1.0 has no way to write control characters or lone surrogates, not even as references: they become U+FFFD. */
// eslint-disable-next-line no-control-regex -- the characters that XML 1.0 forbids are exactly these
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function escapeXml(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
    .replace(/\t/g, '&#9;').replace(/\n/g, '&#10;').replace(/\r/g, '&#13;');
}

function invariantCase(judge: InvariantVerdict): TestCase {
  const excused = judge.excused > 0 ? `, ${countInWords(judge.excused)} excused` : '';
  const counts = `${countInWords(judge.checked)} checked, ${countInWords(judge.violations)} violations${excused}`;
  const witness = judge.worst ?? judge.first;
  switch (judge.outcome) {
    case 'holds': return { name: judge.name, result: 'passed', message: `${counts}. ${judge.note}`, details: '' };
    case 'violated': {
      const claim = witness === null ? judge.note : `${witness.kind} ${witness.id}: ${witness.claim}`;
      return { name: judge.name, result: 'failure', message: `${counts}. ${claim}`, details: witness === null ? '' : biographyInWords(witness).join('\n') };
    }
    case 'unknown': return { name: judge.name, result: 'error', message: judge.note, details: '' };
    case 'not-judged': return { name: judge.name, result: 'skipped', message: judge.note, details: '' };
  }
}

function serviceLevelCase(verdict: RunVerdict, level: ServiceLevelVerdict): TestCase {
  const result = ({ met: 'passed', missed: 'failure', unknown: 'error', 'not-judged': 'skipped' } as const)[level.outcome];
  return { name: level.name, result, message: `${serviceLevelInWords(verdict, level)}. ${level.note}`, details: '' };
}

function shownCase(shown: ShownVerdict): TestCase {
  return { name: shown.figure, result: shown.outcome === 'shown' ? 'passed' : 'error', message: `${shown.outcome}, ${shownInWords(shown)}: ${shown.what}`, details: '' };
}

function faultCase(fault: FaultRecord): TestCase {
  const landed = fault.proof === 'landed';
  const strikes = `${countInWords(fault.strikes)} of ${countInWords(fault.strikesAsked)} strikes`;
  const message = `${fault.proof}, ${strikes}; ${fault.healed ? 'healed' : 'not healed'}`;
  const details = `predicted: ${fault.prediction}\nobserved: ${fault.observed}\nheal: ${fault.healObserved}`;
  return { name: fault.id, result: landed && fault.healed ? 'passed' : 'error', message, details };
}

function loadCase(load: LoadVerdict): TestCase {
  const result = ({ valid: 'passed', void: 'error', unknown: 'error' } as const)[load.outcome];
  return { name: 'load-is-honest', result, message: `${load.outcome}: ${load.reasons.join('; ')}`, details: '' };
}

function writeCase(suite: string, test: TestCase): string {
  const open = `    <testcase classname="${escapeXml(suite)}" name="${escapeXml(test.name)}" time="0">`;
  const message = escapeXml(test.message);
  const details = escapeXml(test.details);
  switch (test.result) {
    case 'passed': return `${open}<system-out>${message}</system-out></testcase>`;
    case 'skipped': return `${open}<skipped message="${message}"/></testcase>`;
    default: return `${open}<${test.result} type="${test.result}" message="${message}">${details}</${test.result}></testcase>`;
  }
}

function countsOf(cases: readonly TestCase[]): string {
  const count = (result: TestCase['result']): number => cases.filter((test) => test.result === result).length;
  return `tests="${String(cases.length)}" failures="${String(count('failure'))}" errors="${String(count('error'))}" skipped="${String(count('skipped'))}"`;
}

export function junitOf(verdict: RunVerdict): string {
  const { scenario, startedAt, id } = verdict.run;
  const suites: readonly (readonly [string, readonly TestCase[]])[] = [
    [`${scenario}.invariants`, verdict.invariants.map(invariantCase)],
    [`${scenario}.service-levels`, verdict.serviceLevels.map((level) => serviceLevelCase(verdict, level))],
    [`${scenario}.shown`, verdict.shown.map(shownCase)],
    [`${scenario}.faults`, verdict.faults.map(faultCase)],
    [`${scenario}.load`, [loadCase(verdict.load)]],
  ];
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>', `<testsuites name="${escapeXml(`seckill-lab ${id}`)}" ${countsOf(suites.flatMap(([, cases]) => cases))} time="0">`];
  for (const [name, cases] of suites) {
    lines.push(`  <testsuite name="${escapeXml(name)}" ${countsOf(cases)} time="0" timestamp="${escapeXml(startedAt)}">`);
    for (const test of cases) lines.push(writeCase(name, test));
    lines.push('  </testsuite>');
  }
  lines.push('</testsuites>', '');
  return lines.join('\n');
}

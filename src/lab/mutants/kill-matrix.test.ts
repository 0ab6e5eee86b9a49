// What the matrix concludes from runs: who is killed, whose judge is blind, who is an only killer, and what takes the gate down.
import { describe, expect, test } from 'vitest';

import type { MatrixRun } from '../../facts/kill-matrix.js';
import { killMatrix, killsNeeded, type MatrixMutant, type MatrixQuestion } from './kill-matrix.js';

const plan = { name: 'a-sale' };
const mutant = (name: string, caughtBy: string): MatrixMutant => ({ name, description: name, warnedBy: '000 §1', caughtBy, showsUnder: plan });
const question = (mutants: readonly MatrixMutant[], over: Partial<MatrixQuestion> = {}): MatrixQuestion => ({
  startedAt: '2026-01-01T00:00:00.000Z', seed: 1, repeats: 1, reduced: false, withoutJudges: [], complete: true, mutants, judges: ['oversell', 'lost'], reasons: {}, ...over,
});
const run = (of: string | null, judges: MatrixRun['judges'], over: Partial<MatrixRun> = {}): MatrixRun => ({
  mutant: of, plan: 'a-sale', seed: 1, repeat: 1, outcome: Object.values(judges).includes('violated') ? 'violated' : 'green', judges, faultsLanded: true, tookMs: 5, directory: null, problem: null, ...over,
});
const control = run(null, { oversell: 'holds', lost: 'holds' });
const [thief, forgetful] = [mutant('thief', 'oversell'), mutant('forgetful', 'lost')];
const seenBoth = [control, run('thief', { oversell: 'violated', lost: 'holds' }), run('forgetful', { oversell: 'holds', lost: 'violated' })];

test('all killed, the right system green, every judge an only killer: exit 0', () => {
  const matrix = killMatrix(question([thief, forgetful]), seenBoth);
  expect(matrix).toMatchObject({ outcome: 'all-killed', exitCode: 0, problems: [] });
  expect(matrix.judges.map(({ name, soleKillerOf }) => [name, soleKillerOf])).toEqual([['oversell', ['thief']], ['lost', ['forgetful']]]);
});

test('that another judge noticed does not count as killed', () => {
  const matrix = killMatrix(question([thief], { complete: false }), [control, run('thief', { oversell: 'holds', lost: 'violated' })]);
  expect(matrix.mutants).toMatchObject([{ end: 'survived', killed: 0, survived: 1, violatedBy: { lost: 1 } }]);
  expect(matrix.exitCode).toBe(1);
});

test.each(['oversell', 'lost'])('without the judge %s, which alone sees a mutant, the gate is red', (judge) => {
  const matrix = killMatrix(question([thief, forgetful], { withoutJudges: [judge] }), seenBoth);
  expect(matrix.exitCode).toBe(1);
  expect(matrix.problems.join()).toMatch(new RegExp(`${judge === 'oversell' ? 'thief' : 'forgetful'} survives`));
});

test('a judge that is nobody’s only killer needs a reason, in a complete matrix', () => {
  const both = [control, run('thief', { oversell: 'violated', lost: 'violated' }), run('forgetful', { oversell: 'holds', lost: 'violated' })];
  const matrix = killMatrix(question([thief, forgetful]), both);
  expect([matrix.exitCode, matrix.problems]).toEqual([1, ["oversell is no mutant's only killer, and no reason is given"]]);
  expect(killMatrix(question([thief, forgetful], { reasons: { oversell: 'lost sees it too' } }), both).exitCode).toBe(0);
  expect(killMatrix(question([thief, forgetful], { complete: false }), both).exitCode).toBe(0);
});

test('an alarm about the right system is exit 1, whatever the mutants do', () => {
  const matrix = killMatrix(question([thief, forgetful]), [run(null, { oversell: 'violated', lost: 'holds' }), ...seenBoth.slice(1)]);
  expect(matrix.exitCode).toBe(1);
  expect(matrix.controls).toMatchObject([{ runs: 1, green: 0, alarms: 1, unproven: 0 }]);
});

describe('what showed nothing is unproven: exit 2', () => {
  test.each<[string, Partial<MatrixRun>]>([
    ['a run that could not be carried out', { outcome: 'failed', judges: {} }],
    ['a fault that did not strike', { outcome: 'unknown', faultsLanded: false }],
    ['a judge that could not tell', { outcome: 'unknown', judges: { oversell: 'unknown', lost: 'holds' } }],
  ])('%s', (_what, over) => {
    const matrix = killMatrix(question([thief], { complete: false }), [control, run('thief', { oversell: 'holds', lost: 'holds' }, over)]);
    expect(matrix.mutants).toMatchObject([{ end: 'unproven', survived: 0, unproven: 1 }]);
    expect(matrix.exitCode).toBe(2);
  });

  test('no run at all, of a mutant or of its control', () => {
    expect(killMatrix(question([thief], { complete: false }), [control]).exitCode).toBe(2);
    expect(killMatrix(question([thief], { complete: false }), seenBoth.slice(1)).exitCode).toBe(2);
  });

  test('a control that was never green', () => {
    expect(killMatrix(question([thief], { complete: false }), [{ ...control, outcome: 'void' }, ...seenBoth.slice(1)]).exitCode).toBe(2);
  });
});

test('a violation in a run whose fault did not strike kills no mutant, and is an alarm about the right system all the same', () => {
  const matrix = killMatrix(question([thief], { complete: false }), [control, run('thief', { oversell: 'violated' }, { faultsLanded: false })]);
  expect([matrix.exitCode, matrix.mutants[0]?.end]).toEqual([2, 'unproven']);
  expect(killMatrix(question([thief], { complete: false }), [run(null, { oversell: 'violated' }, { faultsLanded: false }), ...seenBoth.slice(1)]).exitCode).toBe(1);
});

test('nine of ten are enough, eight are not; of fewer than ten all are needed', () => {
  const controls = Array.from({ length: 10 }, (_, index) => ({ ...control, repeat: index + 1 }));
  const kills = (count: number) => Array.from({ length: 10 }, (_, index) => run('thief', { oversell: index < count ? 'violated' : 'holds', lost: 'holds' }, { repeat: index + 1 }));
  expect(killMatrix(question([thief], { complete: false }), [...controls, ...kills(9)]).exitCode).toBe(0);
  expect(killMatrix(question([thief], { complete: false }), [...controls, ...kills(8)]).exitCode).toBe(1);
  expect([1, 3, 9, 10, 20].map(killsNeeded)).toEqual([1, 3, 9, 9, 18]);
});

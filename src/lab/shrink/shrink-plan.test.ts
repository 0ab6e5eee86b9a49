/** A failing plan gets as small as it can and still fails, and chance does not fool the search. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { ExperimentPlan } from '../../facts/experiment-plan.js';
import { shrinkPlan, type ShrinkSurroundings } from './shrink-plan.js';
import { smallerPlans } from './smaller-plans.js';

const WHOLE: ExperimentPlan = {
  schemaVersion: 1, scenario: 'hot-sku', seed: 7, mutant: 'inbox-off',
  options: { rate: 1_500, duration: '10000ms', stock: 1_000, gateways: 2 },
  faults: ['kill-role@step=gateway.after-reserve,times=5', 'pg-outage@t=2s,for=1s'],
};

/** Counts runs; fails when `isWrong` says so, or by the number of the run. */
function bench(isWrong: (plan: ExperimentPlan, run: number) => boolean, signal = new AbortController().signal): ShrinkSurroundings & { runs: number; steps: string[] } {
  const around = {
    runs: 0,
    steps: [] as string[],
    signal,
    onStep: (text: string) => { around.steps.push(text); },
    failures: (plan: ExperimentPlan, runs: number) => {
      let failed = 0;
      for (let run = 0; run < runs; run += 1) if (isWrong(plan, (around.runs += 1))) failed += 1;
      return Promise.resolve(failed);
    },
  };
  return around;
}

const rateOf = (plan: ExperimentPlan): number => Number(plan.options?.['rate']);

describe('shrinking a plan', () => {
  it('keeps only what the failure needs', async () => {
    const outcome = await shrinkPlan(WHOLE, bench((plan) => plan.faults?.some((fault) => fault.startsWith('kill-role@')) ?? false));
    expect(outcome).toMatchObject({ kind: 'shrunk', failed: 10, plan: { ...WHOLE, faults: ['kill-role@step=gateway.after-reserve,times=1'], options: { rate: 20, duration: '1000ms', stock: 1, gateways: 1 } } });
  });

  it('finds the least rate within its steps', async () => {
    const outcome = await shrinkPlan(WHOLE, bench((plan) => rateOf(plan) >= 200));
    if (outcome.kind !== 'shrunk') throw new Error(outcome.kind);
    expect(rateOf(outcome.plan)).toBeGreaterThanOrEqual(200);
    expect(rateOf(outcome.plan)).toBeLessThan(300);
    expect(outcome.plan.faults).toEqual([]);
  });

  it('takes back a cut that failed three times by chance', async () => {
    // Below 500 a second it fails in three runs of four, the first three to begin with.
    const runsAt = new Map<string, number>();
    const outcome = await shrinkPlan(WHOLE, bench((plan) => {
      const key = JSON.stringify(plan);
      const before = runsAt.get(key) ?? 0;
      runsAt.set(key, before + 1);
      return rateOf(plan) >= 500 || before % 4 !== 3;
    }));
    expect(outcome.kind).toBe('shrunk');
    if (outcome.kind === 'shrunk') expect(rateOf(outcome.plan)).toBeGreaterThanOrEqual(500);
  });

  it('says so when the failure does not come back', async () => {
    expect(await shrinkPlan(WHOLE, bench(() => false))).toEqual({ kind: 'not-reproduced', failed: 0 });
  });

  it('stops at a word and keeps what it has', async () => {
    const abort = new AbortController();
    const outcome = await shrinkPlan(WHOLE, bench((_, run) => {
      if (run === 7) abort.abort();
      return true;
    }, abort.signal));
    expect(outcome).toMatchObject({ kind: 'stopped', cuts: ['no faults', 'gateways 1'] });
  });

  it('only ever offers less, and ends', () => {
    const size = (plan: ExperimentPlan): number => (plan.faults ?? []).reduce((sum, fault) => sum + 1_000 + Number(/times=(\d+)/.exec(fault)?.[1] ?? 0), 0)
      + Number(plan.options?.['rate']) + Number.parseInt(String(plan.options?.['duration']), 10) + Number(plan.options?.['stock']) + Number(plan.options?.['gateways'] ?? 1);
    fc.assert(fc.property(fc.record({ rate: fc.integer({ min: 1, max: 300_000 }), duration: fc.integer({ min: 1, max: 60_000 }), stock: fc.integer({ min: 1, max: 10_000 }), gateways: fc.integer({ min: 1, max: 4 }), times: fc.integer({ min: 1, max: 50 }) }), ({ times, duration, ...options }) => {
      const plan: ExperimentPlan = { ...WHOLE, options: { ...options, duration: `${String(duration)}ms` }, faults: [`kill-role@step=relay.after-send,times=${String(times)}`] };
      for (const smaller of smallerPlans(plan).flat()) expect(size(smaller.plan)).toBeLessThan(size(plan));
    }));
  });
});

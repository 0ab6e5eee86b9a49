/** When a load is void: too little issued, nothing answered, or late against the bound that is claimed. */
import { describe, expect, it } from 'vitest';

import { emptyColumns } from './history-file.js';
import { ARRIVAL_OUTCOMES, type GeneratorFacts } from './history.js';
import { judgeLoad, measureGenerator, percentileOf } from './load-honesty.js';

const honest: GeneratorFacts = {
  scheduled: 10_000, issued: 10_000, answered: 9_900, dropped: 0, notSent: 50, indeterminate: 50, latenessP50Us: 600, latenessP99Us: 25_000, latenessMaxUs: 30_000, startedUs: 0, endedUs: 1e7,
  cpuSeconds: 1, maxTickGapUs: 2_000,
};

describe('the honesty of a load', () => {
  it('is valid at its limits and void beyond them', () => {
    expect(judgeLoad(honest, 100_000)).toEqual({ outcome: 'valid', reasons: [], generator: honest });
    expect(judgeLoad({ ...honest, latenessP99Us: 25_001 }, 100_000).outcome).toBe('void');
    expect(judgeLoad({ ...honest, issued: 9_990 }, 100_000).outcome).toBe('valid');
    expect(judgeLoad({ ...honest, issued: 9_989 }, 100_000)).toMatchObject({ outcome: 'void', reasons: [expect.stringContaining('9989 of 10000')] });
  });

  it('is void without an answer or a schedule, and unknown without an account', () => {
    expect(judgeLoad({ ...honest, answered: 0 }, null).outcome).toBe('void');
    expect(judgeLoad({ ...honest, scheduled: 0, issued: 0, answered: 0 }, null).outcome).toBe('void');
    expect(judgeLoad(null, null).outcome).toBe('unknown');
  });

  it('does not ask for punctuality where no latency is claimed', () => {
    expect(judgeLoad({ ...honest, latenessP99Us: 9e9 }, null).outcome).toBe('valid');
  });

  it('asks for the punctuality that the load itself asks for, claimed latency or not', () => {
    expect(judgeLoad({ ...honest, latenessP99Us: 25_000 }, null, 25_000).outcome).toBe('valid');
    expect(judgeLoad({ ...honest, latenessP99Us: 25_001 }, null, 25_000)).toMatchObject({ outcome: 'void', reasons: [expect.stringContaining('25.0 ms that this load allows')] });
    expect(judgeLoad({ ...honest, latenessP99Us: 25_001 }, 1e9, 25_000).outcome).toBe('void');
  });

  it('measures counts and lateness from the rows', () => {
    const columns = emptyColumns(5);
    const outcomes = ['answered', 'answered', 'not-sent', 'dropped', 'indeterminate'] as const;
    outcomes.forEach((outcome, index) => {
      columns.outcome[index] = ARRIVAL_OUTCOMES.indexOf(outcome);
      columns.intendedUs[index] = 1_000 * index;
      if (outcome === 'answered' || outcome === 'indeterminate') columns.sentUs[index] = 1_000 * index + 10 * (index + 1);
    });
    expect(measureGenerator(columns, { cpuSeconds: 2, maxTickGapUs: 3 })).toEqual({
      scheduled: 5, issued: 4, answered: 2, dropped: 1, notSent: 1, indeterminate: 1, latenessP50Us: 20, latenessP99Us: 50, latenessMaxUs: 50, startedUs: 0, endedUs: 4_000, cpuSeconds: 2, maxTickGapUs: 3,
    });
  });

  it('takes percentiles by nearest rank', () => {
    const rising = Float64Array.from({ length: 100 }, (_, index) => index + 1);
    expect([0, 0.5, 0.99, 0.991, 1].map((share) => percentileOf(rising, share))).toEqual([1, 50, 99, 100, 100]);
    expect(percentileOf(new Float64Array(0), 0.99)).toBe(0);
  });
});

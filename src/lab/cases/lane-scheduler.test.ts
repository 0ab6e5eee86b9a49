// Order, bounded concurrency, exclusivity, abort and failure of the lane scheduler, with work that ends when the test says so.
import { describe, expect, test } from 'vitest';

import { runOnLanes } from './lane-scheduler.js';

interface Bench {
  readonly running: string[];
  readonly most: number;
  readonly begun: string[];
}

/** Work named `…!` needs the whole stack. Each takes a few turns of the event loop. */
async function scheduled(list: readonly string[], lanes: number, over: { signal?: AbortSignal; onBegin?: (work: string) => void } = {}): Promise<Bench & { results: string[]; left: readonly string[]; companyOf: Map<string, number> }> {
  const running = new Set<string>();
  const begun: string[] = [];
  const companyOf = new Map<string, number>();
  let most = 0;
  const outcome = await runOnLanes(list, {
    lanes,
    signal: over.signal ?? new AbortController().signal,
    needsWholeStack: (work) => work.endsWith('!'),
    async run(work, lane) {
      running.add(work);
      begun.push(work);
      over.onBegin?.(work);
      most = Math.max(most, running.size);
      for (let turn = 0; turn < 3 + (work.length % 3); turn += 1) {
        companyOf.set(work, Math.max(companyOf.get(work) ?? 0, running.size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      running.delete(work);
      if (work === 'bug') throw new Error('a bug');
      return `${work}@${String(lane)}`;
    },
  });
  return { running: [...running], most, begun, results: outcome.results.map(({ result }) => result), left: outcome.left, companyOf };
}

describe('the lane scheduler', () => {
  test('runs everything once, in order of the list, on no more lanes than there are', async () => {
    const list = Array.from({ length: 17 }, (_, index) => `case-${String(index)}`);
    const { begun, most, results, left } = await scheduled(list, 3);
    expect(begun).toEqual(list);
    expect(most).toBe(3);
    expect(results.map((text) => text.split('@')[0]).sort()).toEqual([...list].sort());
    expect(new Set(results.map((text) => text.split('@')[1]))).toEqual(new Set(['0', '1', '2']));
    expect(left).toEqual([]);
  });

  test('runs what needs the whole stack alone, after the rest', async () => {
    const { begun, companyOf } = await scheduled(['a', 'b!', 'c', 'd', 'e!'], 3);
    expect(begun).toEqual(['a', 'c', 'd', 'b!', 'e!']);
    expect(companyOf.get('b!')).toBe(1);
    expect(companyOf.get('e!')).toBe(1);
    expect(companyOf.get('a')).toBeGreaterThan(1);
  });

  test('starts nothing more once aborted, waits for what runs, and says what is left', async () => {
    const abort = new AbortController();
    const { results, left, running } = await scheduled(['a', 'b', 'c', 'd', 'e!'], 2, {
      signal: abort.signal,
      onBegin: (work) => {
        if (work === 'b') abort.abort();
      },
    });
    expect(results.map((text) => text.split('@')[0]).sort()).toEqual(['a', 'b']);
    expect(left).toEqual(['c', 'd', 'e!']);
    expect(running).toEqual([]);
  });

  test('throws a bug on, once every lane is idle', async () => {
    const begun: string[] = [];
    await expect(scheduled(['bug', 'slow-one', 'never'], 2, { onBegin: (work) => begun.push(work) })).rejects.toThrow('a bug');
    expect(begun).not.toContain('never');
  });
});

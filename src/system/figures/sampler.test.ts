// The sampler: switched off, gentle with a slow store, quiet about one that is away.
import { afterEach, expect, test, vi } from 'vitest';

import { startSampler, type Sampler } from './sampler.js';

let sampler: Sampler | null = null;
afterEach(async () => {
  vi.useRealTimers();
  await sampler?.stop();
});

const log = vi.fn();

test('an interval of 0 asks nothing', async () => {
  const sample = vi.fn(() => Promise.resolve());
  sampler = startSampler({ store: 'x', intervalMs: 0, sample, log });
  await sampler.stop();
  expect(sample).not.toHaveBeenCalled();
});

test('asks at once, then not before the interval, and a slow store much later', async () => {
  vi.useFakeTimers();
  let answersAfterMs = 0;
  const sample = vi.fn(() => new Promise<void>((resolve) => setTimeout(resolve, answersAfterMs)));
  sampler = startSampler({ store: 'x', intervalMs: 5_000, sample, log });
  await vi.advanceTimersByTimeAsync(1);
  expect(sample).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(4_900);
  expect(sample).toHaveBeenCalledTimes(1);
  answersAfterMs = 400;
  await vi.advanceTimersByTimeAsync(200);
  expect(sample).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(19_000);
  expect(sample).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(sample).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(500);
});

test('a store that is away is told once, and asked again', async () => {
  vi.useFakeTimers();
  log.mockClear();
  const sample = vi.fn(() => Promise.reject(new Error('no answer')));
  sampler = startSampler({ store: 'PostgreSQL', intervalMs: 5_000, sample, log });
  await vi.advanceTimersByTimeAsync(11_000);
  expect(sample).toHaveBeenCalledTimes(3);
  expect(log).toHaveBeenCalledTimes(1);
});

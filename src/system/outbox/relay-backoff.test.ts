// The promises of the relay's waits: minutes of a broker outage make nothing DEAD, a healed broker is noticed within two seconds.
import { expect, test } from 'vitest';

import { loadMigrations } from '../ledger/sql-loader.js';
import { createPace, retryDelayMs } from './relay-backoff.js';

const maxRetry = Number(/max_retry\s+INTEGER NOT NULL DEFAULT (\d+),\s*locked_by/.exec(loadMigrations().map(({ text }) => text).join('\n'))?.[1]);

test('even with the shortest random waits the tries of one event last ten minutes', () => {
  let sumMs = 0;
  for (let retry = 0; retry < maxRetry - 1; retry++) sumMs += retryDelayMs(retry, 0);
  expect(sumMs).toBeGreaterThan(9.5 * 60_000);
});

test('waits grow from 50–100 ms to 1–2 s and no further', () => {
  expect([retryDelayMs(0, 0), retryDelayMs(0, 0.999)]).toEqual([50, 100]);
  for (const retry of [5, 20, 599, 1e9]) {
    expect(retryDelayMs(retry, 0)).toBe(1_000);
    expect(retryDelayMs(retry, 0.9999)).toBeLessThanOrEqual(2_000);
  }
});

test('an idle relay slows down to eight intervals and is back at full speed after work', () => {
  const pace = createPace(50);
  expect([pace.idle(), pace.idle(), pace.idle(), pace.idle(), pace.idle()]).toEqual([50, 100, 200, 400, 400]);
  expect(pace.worked()).toBe(0);
  expect(pace.idle()).toBe(50);
  expect([pace.failed(), pace.failed(), pace.failed(), pace.failed(), pace.failed(), pace.failed()]).toEqual([100, 200, 400, 800, 1_000, 1_000]);
});

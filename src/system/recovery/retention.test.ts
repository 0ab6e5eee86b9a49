// Retention without a database: what it refuses to start with, and that it works in pages until nothing is left.
import { expect, test } from 'vitest';

import { systemClock } from '../../domain/clock.js';
import { DEFAULT_TUNING, type RoleTuning } from '../../domain/role-config.js';
import { createRoleMetrics } from '../role-metrics.js';
import { retentionProblems } from './retention-limits.js';
import { startRetention } from './retention.js';

const WEEK_MS = 604_800_000;

test.each([
  ['as it comes', {}, []],
  ['topics that are read again for a day', { logRetentionMs: 86_400_000 }, []],
  ['topics that outlive the Inbox', { logRetentionMs: WEEK_MS }, ['longer than logRetentionMs']],
  ['a scanner that outlives the Inbox', { recoveryDeadlineMs: WEEK_MS + 1 }, ['longer than recoveryDeadlineMs']],
  ['reservations and deadlines that outlive the Inbox', { inboxRetentionMs: 1_000 }, ['longer than recoveryDeadlineMs', 'longer than reservationTtlMs']],
  ['events archived under the hands of a relay', { outboxArchiveAfterMs: 3_000 }, ['longer than leaseMs']],
  ['callbacks archived while their order may still be paid', { callbackArchiveAfterMs: 900_000 }, ['longer than paymentWindowMs']],
  ['no interval', { retentionIntervalMs: 0 }, ['at least 1']],
  ['not a number', { inboxRetentionMs: Number.NaN }, ['longer than recoveryDeadlineMs', 'longer than reservationTtlMs']],
])('%s', (_name, change: Partial<RoleTuning>, parts) => {
  const problems = retentionProblems({ ...DEFAULT_TUNING, ...change });
  expect(problems).toHaveLength(parts.length);
  parts.forEach((part, place) => expect(problems[place]).toContain(part));
});

function bench(inbox: number, outbox: number, callbacks = 0) {
  const state = { inbox, outbox, callbacks, closed: false, calls: [] as string[], steps: 0 };
  const take = (name: 'inbox' | 'outbox' | 'callbacks') => (olderThanMs: number, limit: number): Promise<number> => {
    const count = Math.min(limit, state[name]);
    state[name] -= count;
    state.calls.push(`${name} ${String(olderThanMs)} ${String(count)}`);
    return Promise.resolve(count);
  };
  const store = { deleteInbox: take('inbox'), archiveOutbox: take('outbox'), archiveCallbacks: take('callbacks'), ready: () => Promise.resolve(true), close: () => Promise.resolve(void (state.closed = true)) };
  const start = (change: Partial<RoleTuning>) =>
    startRetention({ store, metrics: createRoleMetrics('retention', 'retention-1') }, { tuning: { ...DEFAULT_TUNING, ...change } }, {
      clock: systemClock, log: () => undefined, observer: { reached: () => void (state.steps += 1) },
    });
  return { state, start };
}

test('refuses to start where it would delete what is still needed', async () => {
  const { state, start } = bench(1, 1);
  await expect(start({ logRetentionMs: WEEK_MS })).rejects.toThrow('retention would delete what is still needed: inboxRetentionMs');
  expect(state).toMatchObject({ closed: true, calls: [] });
});

test('every table in pages, each announced, and then it rests', async () => {
  const { state, start } = bench(2_500, 1_000, 300);
  const role = await start({ logRetentionMs: 1_000, inboxRetentionMs: 1_000_000, outboxArchiveAfterMs: 5_000, callbackArchiveAfterMs: 1_000_000, retentionIntervalMs: 60_000 });
  await expect.poll(() => state.calls).toHaveLength(6);
  expect(state.calls).toEqual(['inbox 1000000 1000', 'inbox 1000000 1000', 'inbox 1000000 500', 'outbox 5000 1000', 'outbox 5000 0', 'callbacks 1000000 300']);
  expect(state.steps).toBe(5);
  await role.stop();
  expect(state.closed).toBe(true);
});

test('topics that are kept for ever keep the Inbox for ever', async () => {
  const { state, start } = bench(10, 10);
  const role = await start({});
  await expect.poll(() => state.outbox).toBe(0);
  expect(state.inbox).toBe(10);
  await role.stop();
});

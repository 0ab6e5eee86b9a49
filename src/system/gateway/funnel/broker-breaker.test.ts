// The breaker: what opens it, that the broker and not a customer is asked first, and what closes it.
import { expect, test } from 'vitest';

import { aRequest, saidBy } from './a-request.test-support.js';
import { createBrokerBreaker, type BreakerState } from './broker-breaker.js';

function world() {
  const changes: BreakerState[] = [];
  const state = { nowMs: 0, answers: false, asked: 0 };
  const breaker = createBrokerBreaker({
    tuning: { failures: 3, openMs: 1_000 },
    brokerAnswers: () => {
      state.asked += 1;
      return Promise.resolve(state.answers);
    },
    onChange: (change) => changes.push(change),
    nowMs: () => state.nowMs,
  });
  return { breaker, changes, state };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('opens after so many unconfirmed sends in a row, unknown ones like sure ones', () => {
  const { breaker } = world();
  breaker.sent('unknown');
  breaker.sent('surely-not-sent');
  breaker.sent('sent');
  breaker.sent('unknown');
  breaker.sent('unknown');
  expect(saidBy(breaker)).toBe('passed');
  breaker.sent('surely-not-sent');
  expect(breaker.state).toBe('open');
  expect(breaker.pass(aRequest())).toMatchObject({ httpStatus: 503, answer: { code: 'UNAVAILABLE' } });
});

test('open: the broker is asked after its time, and no request passes before it has answered', async () => {
  const { breaker, state, changes } = world();
  for (let send = 0; send < 3; send += 1) breaker.sent('unknown');
  expect([saidBy(breaker), state.asked]).toEqual(['UNAVAILABLE', 0]);
  state.nowMs = 1_000;
  expect([saidBy(breaker), saidBy(breaker), state.asked]).toEqual(['UNAVAILABLE', 'UNAVAILABLE', 1]);
  await settled();
  expect([breaker.state, saidBy(breaker), state.asked]).toEqual(['open', 'UNAVAILABLE', 1]);
  state.nowMs = 2_000;
  state.answers = true;
  expect(saidBy(breaker)).toBe('UNAVAILABLE');
  await settled();
  expect(breaker.state).toBe('half-open');
  expect([saidBy(breaker), saidBy(breaker)]).toEqual(['passed', 'UNAVAILABLE']);
  breaker.sent('sent');
  expect([breaker.state, saidBy(breaker)]).toEqual(['closed', 'passed']);
  expect(changes).toEqual(['open', 'half-open', 'closed']);
});

test('half open: a probe that fails opens it again, one that sends nothing only makes room for the next', async () => {
  const { breaker, state } = world();
  state.answers = true;
  for (let send = 0; send < 3; send += 1) breaker.sent('unknown');
  state.nowMs = 1_000;
  saidBy(breaker);
  await settled();
  expect([saidBy(breaker), saidBy(breaker)]).toEqual(['passed', 'UNAVAILABLE']);
  state.nowMs = 1_100;
  expect(saidBy(breaker)).toBe('passed');
  breaker.sent('unknown');
  expect(breaker.state).toBe('open');
  state.nowMs = 2_000;
  saidBy(breaker);
  await settled();
  expect(breaker.state).toBe('open');
});

test('a confirmation from before the outage does not close an open breaker', () => {
  const { breaker } = world();
  for (let send = 0; send < 3; send += 1) breaker.sent('unknown');
  breaker.sent('sent');
  expect(breaker.state).toBe('open');
});

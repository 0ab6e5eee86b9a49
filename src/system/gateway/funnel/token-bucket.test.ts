// Token buckets: never more than rate × time + burst, whatever the times; and callers do not share.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { aRequest, saidBy } from './a-request.test-support.js';
import { createInstanceBucketLayer, createKeyedBucketLayer } from './token-bucket.js';

test('property: in no span does a bucket let more pass than its rate times the span plus its burst', () => {
  fc.assert(
    fc.property(
      fc.record({ perSecond: fc.integer({ min: 0, max: 500 }), burst: fc.integer({ min: 1, max: 50 }) }),
      fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 }),
      (tuning, gapsMs) => {
        let nowMs = 0;
        const layer = createInstanceBucketLayer(tuning, () => nowMs);
        const passedAtMs: number[] = [];
        for (const gap of gapsMs) {
          nowMs += gap;
          if (saidBy(layer) === 'passed') passedAtMs.push(nowMs);
        }
        for (let first = 0; first < passedAtMs.length; first += 1) {
          for (let last = first; last < passedAtMs.length; last += 1) {
            const spanMs = (passedAtMs[last] ?? 0) - (passedAtMs[first] ?? 0);
            expect(last - first + 1).toBeLessThanOrEqual((spanMs / 1_000) * tuning.perSecond + tuning.burst + 1e-6);
          }
        }
      },
    ),
    { numRuns: 200 },
  );
});

test('property: whoever waits as long as he is told passes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 5 }), (perSecond, burst) => {
      let nowMs = 0;
      const layer = createInstanceBucketLayer({ perSecond, burst }, () => nowMs);
      for (let index = 0; index < burst; index += 1) expect(saidBy(layer)).toBe('passed');
      const refused = layer.pass(aRequest());
      if (refused === null || refused instanceof Promise) throw new Error('expected a refusal');
      expect(refused).toMatchObject({ httpStatus: 429, answer: { code: 'LIMITED' } });
      nowMs += refused.answer.retryAfterMs ?? 0;
      expect(saidBy(layer)).toBe('passed');
    }),
  );
});

test('each user has a bucket of his own; a request without device has none', () => {
  const users = createKeyedBucketLayer('user-bucket', ({ userId }) => userId, { perSecond: 1, burst: 2 }, 100, () => 0);
  expect([saidBy(users), saidBy(users), saidBy(users), saidBy(users, aRequest({ userId: '43' }))]).toEqual(['passed', 'passed', 'LIMITED', 'passed']);
  const devices = createKeyedBucketLayer('device-bucket', ({ deviceId }) => deviceId, { perSecond: 1, burst: 1 }, 100, () => 0);
  expect([saidBy(devices), saidBy(devices), saidBy(devices, aRequest({ deviceId: 'd' })), saidBy(devices, aRequest({ deviceId: 'd' }))]).toEqual(['passed', 'passed', 'passed', 'LIMITED']);
});

test('the bucket that was unseen for longest is the one forgotten', () => {
  const layer = createKeyedBucketLayer('user-bucket', ({ userId }) => userId, { perSecond: 0, burst: 1 }, 2, () => 0);
  const by = (userId: string): string => saidBy(layer, aRequest({ userId }));
  expect([by('1'), by('2'), by('1'), by('3'), by('1'), by('2')]).toEqual(['passed', 'passed', 'LIMITED', 'passed', 'LIMITED', 'passed']);
});

test('a bucket that never fills says so without infinity', () => {
  const layer = createInstanceBucketLayer({ perSecond: 0, burst: 1 }, () => 0);
  saidBy(layer);
  expect(layer.pass(aRequest())).toMatchObject({ answer: { retryAfterMs: 60_000 } });
});

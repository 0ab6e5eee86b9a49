// The gateways' counts of the funnel against the clients' own: what adds up, and each way in which it does not.
import { expect, test } from 'vitest';

import { countsInWords, funnelSum, speedsInWords } from './verdict-in-words.js';
import type { FunnelCount, RunFigures, RunVerdict } from './verdict.js';

type Counts = readonly (readonly [layer: string, passed: number, refused: number])[];

function figures(counts: Counts, change: Partial<RunFigures> = {}): RunFigures {
  const all: FunnelCount[] = [
    { layer: 'known', outcome: 'passed', count: 40 },
    ...counts.flatMap(([layer, passed, refused]) => [{ layer, outcome: 'passed', count: passed }, { layer, outcome: 'refused', count: refused }]),
  ];
  return {
    transport: 'http', cost: { reachedRedis: null, soldOutKnownMs: null, cpuSeconds: {}, stealSeconds: null },
    stock: 100, offered: 1_000, issued: 1_000, decided: 1_000, accepted: 100, soldOut: 200, refusedByCode: { INVALID: 60 }, orders: 100, topicMessages: 100, topicDuplicates: 0, paid: 0, released: 0,
    refunds: 0, unmatchedPayments: 0, deadLetters: 0, waitingForHumans: 0, funnel: { counts: all, restarted: [] }, latencyFromIntended: null, winnersLatency: null, reservationToOrder: null,
    recoveryMs: null, excused: 0, ...change,
  };
}
const RIGHT: Counts = [['permit', 600, 300], ['user-bucket', 590, 10], ['in-flight', 590, 0]];

test('malformed, known and first layer together are all arrivals; each layer gets what the one before let pass', () => {
  expect(funnelSum(figures(RIGHT))).toEqual({ addsUp: true, text: expect.stringMatching(/^It adds up: 940 .*40 of them.*clients count 940\.$/) as string });
});

test.each<[string, Counts, Partial<RunFigures>]>([
  ['a request that no layer has counted', [['permit', 599, 300], ['user-bucket', 589, 10], ['in-flight', 589, 0]], {}],
  ['a request that was counted twice', [['permit', 601, 300], ['user-bucket', 591, 10], ['in-flight', 591, 0]], {}],
  ['a layer that was gone around', [['permit', 600, 300], ['user-bucket', 580, 10], ['in-flight', 580, 0]], {}],
])('%s does not add up', (_name, counts, change) => {
  expect(funnelSum(figures(counts, change))).toMatchObject({ addsUp: false, text: expect.stringContaining('NOT add up') as string });
});

test('requests without an answer may or may not have come', () => {
  expect(funnelSum(figures(RIGHT, { decided: 990 }))?.addsUp).toBe(true);
  expect(funnelSum(figures(RIGHT, { decided: 990, issued: 999 }))?.addsUp).toBe(false);
});

test('counts that are not whole are not added up', () => {
  const whole = figures(RIGHT);
  expect(funnelSum({ ...whole, funnel: { ...whole.funnel, restarted: ['gateway-1'] } })).toBeNull();
  expect(funnelSum({ ...whole, funnel: { ...whole.funnel, restarted: null } })).toBeNull();
  expect(funnelSum({ ...whole, funnel: { counts: [], restarted: [] } })).toBeNull();
  expect(funnelSum({ ...whole, decided: null })).toBeNull();
});

test('a storm over an edge is called one, and its cost stands per arrival beside the speeds', () => {
  const edge = figures(RIGHT, { transport: 'edge', cost: { reachedRedis: 130, soldOutKnownMs: 123.4, cpuSeconds: { generator: 0.0005, 'gateway-1': 0.001 }, stealSeconds: 0.25 } });
  expect(countsInWords(edge)[0]).toEqual(['transport', 'edge: batches of many customers per connection']);
  expect(countsInWords(figures(RIGHT)).some(([label]) => label === 'transport')).toBe(false);
  const verdict = { outcome: 'green', figures: edge } as unknown as RunVerdict;
  expect(speedsInWords(verdict)).toEqual([
    ['sold out, known to a gateway after', '123.4 ms'], ['requests that reached Redis', '130 (13.00 % of the arrivals)'],
    ['CPU, µs per arrival', '1.50 in all: gateway-1 1.00, generator 0.50'], ['taken away by the host', '0.25 s of CPU'],
  ]);
  expect(speedsInWords({ ...verdict, outcome: 'violated' })).toEqual([]);
});

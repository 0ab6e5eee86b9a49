/** What the benches take from other programs' words and from a run's verdict: a wrong measurement is none. */
import { expect, it } from 'vitest';

import type { RunFigures } from '../facts/verdict.js';
import { handWrittenFacts } from '../invariants/hand-written-facts.test-support.js';
import * as answers from '../system/gateway/answers.js';
import type { GatewayAnswer } from '../system/gateway/answers.js';
import { answerRecorder } from '../system/gateway/gateway-metrics.js';
import { loadStatements } from '../system/ledger/sql-loader.js';
import { createRoleMetrics } from '../system/role-metrics.js';
import { BARS } from './bars.js';
import { ROUNDS } from './bench.js';
import { reaches } from './bound.js';
import { roundMs } from './consumer.js';
import { figuresOf, saleMs } from './end-to-end.js';
import { mustAllBeSoldOut, toldOf, wrkReport } from './gateway-http.js';
import { growsBy, SIZES, standing } from './growth.js';
import { latencyP99Us } from './own-generator.js';
import { emptyColumns } from '../facts/history-file.js';
import { written } from './pgbench-script.js';
import { mustAllSay, stockNaively } from './reserve-redis.js';

const report = (refused: string, more = ''): string => `Running 3s test\n  1 threads and 32 connections\n${more}  1000 requests in 3.00s, 1.00MB read\n${refused}Requests/sec:    333.33\nTransfer/sec: 1MB\n`;

it('wrk: takes the rate only when every answer was a refusal and no socket failed', () => {
  expect(wrkReport(report('  Non-2xx or 3xx responses: 1000\n'))).toEqual({ requests: 1_000, rate: 333.33 });
  expect(() => wrkReport(report(''))).toThrow('not every answer');
  expect(() => wrkReport(report('  Non-2xx or 3xx responses: 999\n'))).toThrow('not every answer');
  expect(() => wrkReport(report('  Non-2xx or 3xx responses: 1000\n', '  Socket errors: connect 0, read 3, write 0, timeout 0\n'))).toThrow('not every answer');
});

it('gateway-http: takes a window only when the gateway told all of it, and nobody anything else, that all is sold', async () => {
  const metrics = createRoleMetrics('gateway', 'gateway-1');
  const recorder = answerRecorder(metrics, { activityId: '7', skuIds: ['70'] });
  const tell = (answer: GatewayAnswer, count: number): void => { for (let index = 0; index < count; index += 1) recorder.answered('submit', answer, performance.now(), '70'); };
  tell(answers.refused('SOLD_OUT', 'r'), 3);
  const before = toldOf(await metrics.text());
  expect(before).toEqual({ soldOut: 3, others: 0 });
  tell(answers.refused('SOLD_OUT', 'r'), 10);
  recorder.answered('query', answers.unavailable('r'), performance.now(), '70');
  const after = toldOf(await metrics.text());
  // Some may have been in flight when wrk ended.
  for (const requests of [10, 8]) expect(() => { mustAllBeSoldOut(before, after, requests); }).not.toThrow();
  // wrk was refused by somebody else, such as a wrong path.
  expect(() => { mustAllBeSoldOut(before, after, 11); }).toThrow('wrk counts 11 refusals');
  expect(() => { mustAllBeSoldOut(before, { ...after, soldOut: 113 }, 10); }).toThrow('told 110');
  tell(answers.unavailable('r'), 1);
  expect(toldOf(await metrics.text())).toEqual({ soldOut: 13, others: 1 });
  expect(() => { mustAllBeSoldOut(before, { soldOut: 13, others: 1 }, 9); }).toThrow('1 something else');
});

it('reserve: every decision has to be the one that is measured, and the mark stands where nothing is left', async () => {
  expect(() => { mustAllSay('SOLD_OUT', ['SOLD_OUT', 'SOLD_OUT'], 2); }).not.toThrow();
  expect(() => { mustAllSay('SOLD_OUT', ['SOLD_OUT', 'PAUSED'], 2); }).toThrow('among them PAUSED');
  expect(() => { mustAllSay('SOLD_OUT', ['SOLD_OUT'], 2); }).toThrow('got 1 decisions');
  const marked = async (units: number): Promise<readonly string[]> => {
    const keys: string[] = [];
    const set = (key: string): Promise<'OK'> => { keys.push(key); return Promise.resolve('OK'); };
    await stockNaively({ set, hset: () => Promise.resolve(1) }, 't', units);
    return keys;
  };
  expect(await marked(0)).toEqual(['t:stock', 't:soldout']);
  expect(await marked(5)).toEqual(['t:stock']);
});

it('end-to-end: no figures of a run that proves nothing, or sold something else', () => {
  const figures = { orders: 10_000, reservationToOrder: { count: 10_000, never: 0, p50Us: 1, p99Us: 1, p999Us: 2_000, maxUs: 3_000 } } as RunFigures;
  const level = { name: 'order-within-3s', outcome: 'met', measured: 0.9995, bound: 0.999, unit: 'share', note: '' } as const;
  const verdict = { outcome: 'green', headline: 'x', serviceLevels: [level], figures } as const;
  expect(figuresOf(verdict, 180)).toEqual([99.95, 2, 3, 180]);
  expect(figuresOf({ ...verdict, outcome: 'service-level-missed' }, 1_000)).toHaveLength(4);
  for (const outcome of ['violated', 'unknown', 'void'] as const) expect(() => figuresOf({ ...verdict, outcome }, 180)).toThrow(outcome);
  expect(() => figuresOf({ ...verdict, figures: { ...figures, orders: 9_999 } }, 180)).toThrow('9999 orders');
  expect(() => figuresOf({ ...verdict, serviceLevels: [] }, 180)).toThrow();
});

it('end-to-end: how long the sale took is a figure with a bar, and no number where nobody knows', () => {
  const facts = handWrittenFacts({ arrivals: 200, stock: 50 });
  // 100 arrivals a second, and the first fifty get one.
  expect(saleMs(facts)).toBeCloseTo(490, 0);
  const unknown = saleMs({ ...facts, postgres: { present: false, reason: 'gone' } });
  expect([reaches(saleMs(facts), BARS.saleMs), reaches(1_001, BARS.saleMs), reaches(unknown, BARS.saleMs)]).toEqual([true, false, false]);
});

it('pgbench: writes every parameter into the statement, and hands the claimed units on', () => {
  const { insert_inbox: inbox, claim_tokens: claim, insert_order_events: events } = loadStatements();
  const text = written('insert_inbox', inbox.text, ["'g'", "'t'", ':message_ids', ':reservation_ids', ':payload_hashes', ':order_ids']);
  expect(text).not.toMatch(/\$\d|--/);
  expect(text).toContain("unnest(:message_ids::uuid[], :reservation_ids::uuid[]");
  expect(text.endsWith(';')).toBe(true);
  expect(written('claim_tokens', claim.text, ['1', '2', ':reservation_ids', ':order_ids'])).toMatch(/, claimed AS \(\nUPDATE inventory_token[^]*FROM claimed \\gset$/);
  expect(() => written('insert_inbox', inbox.text, ["'g'"])).toThrow('no value for $2');
  const values = Array.from({ length: 13 }, (_value, place) => `:p${String(place)}`);
  const asPgbenchReads = written('insert_order_events', events.text, values).match(/(?<!:):\w+/g) ?? [];
  expect([...new Set(asPgbenchReads)].sort()).toEqual(values.toSorted());
});

it('growth: a size stays what it is over the rounds', () => {
  for (const size of SIZES) expect(growsBy(size), String(size)).toBeLessThan(0.2);
  expect(SIZES.map(standing)).toEqual([ROUNDS + 1, 1, 1]);
});

it('pgbench: reads how long a round took', () => {
  expect(roundMs('number of clients: 4\nlatency average = 412.345 ms\ninitial connection time = 3 ms\n')).toBe(412.345);
  expect(roundMs('nothing')).toBeNaN();
});

it('p99 counts from the intended time, and only what was answered', () => {
  const columns = emptyColumns(101);
  for (let index = 0; index < 100; index += 1) {
    columns.intendedUs[index] = 1_000;
    columns.answeredUs[index] = 1_000 + index + 1;
  }
  columns.answeredUs[100] = Number.NaN;
  expect(latencyP99Us({ columns })).toBe(99);
});

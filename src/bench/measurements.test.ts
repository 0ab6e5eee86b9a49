/** What the benches take from other programs' words and from a run's verdict: a wrong measurement is none. */
import { expect, it } from 'vitest';

import type { RunFigures } from '../facts/verdict.js';
import { handWrittenFacts } from '../invariants/hand-written-facts.test-support.js';
import { loadStatements } from '../system/ledger/sql-loader.js';
import { figuresOf, saleMs } from './end-to-end.js';
import { rateOf } from './gateway-http.js';
import { latencyP99Us } from './own-generator.js';
import { emptyColumns } from '../facts/history-file.js';
import { written } from './pgbench-script.js';

const report = (refused: string, more = ''): string => `Running 3s test\n  1 threads and 32 connections\n${more}  1000 requests in 3.00s, 1.00MB read\n${refused}Requests/sec:    333.33\nTransfer/sec: 1MB\n`;

it('wrk: takes the rate only when every answer was a refusal and no socket failed', () => {
  expect(rateOf(report('  Non-2xx or 3xx responses: 1000\n'))).toBe(333.33);
  expect(() => rateOf(report(''))).toThrow('not every answer');
  expect(() => rateOf(report('  Non-2xx or 3xx responses: 999\n'))).toThrow('not every answer');
  expect(() => rateOf(report('  Non-2xx or 3xx responses: 1000\n', '  Socket errors: connect 0, read 3, write 0, timeout 0\n'))).toThrow('not every answer');
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

it('end-to-end: no figures of units that were not sold at once, or of which nobody knows when', () => {
  const figures = { orders: 10_000, reservationToOrder: { count: 10_000, never: 0, p50Us: 1, p99Us: 1, p999Us: 2_000, maxUs: 3_000 } } as RunFigures;
  const verdict = { outcome: 'green', headline: 'x', serviceLevels: [{ name: 'order-within-3s', outcome: 'met', measured: 1, bound: 0.999, unit: 'share', note: '' }], figures } as const;
  expect(() => figuresOf(verdict, 1_001)).toThrow('not sold at once: 1001 ms');
  expect(() => figuresOf(verdict, Number.NaN)).toThrow('not sold at once');
  const facts = handWrittenFacts({ arrivals: 200, stock: 50 });
  // 100 arrivals a second, and the first fifty get one.
  expect(saleMs(facts)).toBeCloseTo(490, 0);
  expect(() => figuresOf(verdict, saleMs({ ...facts, postgres: { present: false, reason: 'gone' } }))).toThrow('not sold at once');
});

it('pgbench: writes every parameter into the statement, and hands the claimed units on', () => {
  const { insert_inbox: inbox, claim_tokens: claim } = loadStatements();
  const text = written('insert_inbox', inbox.text, ["'g'", "'t'", ':message_ids', ':reservation_ids', ':payload_hashes', ':order_ids']);
  expect(text).not.toMatch(/\$\d|--/);
  expect(text).toContain("unnest(:message_ids::uuid[], :reservation_ids::uuid[]");
  expect(text.endsWith(';')).toBe(true);
  expect(written('claim_tokens', claim.text, ['1', '2', ':reservation_ids', ':order_ids'])).toMatch(/, claimed AS \(\nUPDATE inventory_token[^]*FROM claimed \\gset$/);
  expect(() => written('insert_inbox', inbox.text, ["'g'"])).toThrow('no value for $2');
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

// What errors of the driver and the server mean, by the shapes they really have (LIBRARIES §3.1).
import { expect, test } from 'vitest';

import { failureKind, isBug, LedgerAnomaly, OrderIdTaken, provesNotCommitted, UnitsLocked } from './postgres-failure.js';

const state = (code: string, severity = 'ERROR'): Error => Object.assign(new Error('x'), { code, severity });

test.each([
  [state('40001'), 'conflict'], [state('40P01'), 'conflict'], [state('55P03'), 'conflict'], [new UnitsLocked('x'), 'conflict'], [new OrderIdTaken('x'), 'conflict'],
  [state('57014'), 'slow'], [new Error('Query read timeout'), 'slow'],
  [state('23505'), 'definite'], [state('22003'), 'definite'], [state('P0001'), 'definite'], [new LedgerAnomaly('x'), 'definite'],
  [state('57P01', 'FATAL'), 'unavailable'], [state('53300', 'FATAL'), 'unavailable'], [state('08006'), 'unavailable'], [state('25006'), 'unavailable'],
  [new Error('Connection terminated unexpectedly'), 'unavailable'], [Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'unavailable'],
])('%o is %s', (error, kind) => {
  expect(failureKind(error)).toBe(kind);
});

test('after COMMIT was sent, only the server itself can say that nothing was committed', () => {
  for (const error of [state('40001'), state('23503'), state('25P02')]) expect(provesNotCommitted(error)).toBe(true);
  for (const error of [state('57P01', 'FATAL'), state('40003'), state('57014'), state('08006'), new Error('Query read timeout'), new Error('Connection terminated unexpectedly'), Object.assign(new Error('x'), { code: 'ECONNRESET' })]) {
    expect(provesNotCommitted(error)).toBe(false);
  }
});

test("a programmer's error is not an operating failure", () => {
  expect(isBug(new TypeError('x'))).toBe(true);
  expect(isBug(new LedgerAnomaly('x'))).toBe(false);
  expect(isBug(state('40001'))).toBe(false);
});

// The packed record: what goes in comes out, and nothing malformed gets in.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { RedisRecordState } from '../../domain/status-codes.js';
import { freshRecord, packRecord, unpackRecord } from './record-codec.js';
import type { StockRecord } from './stock-port.js';

const records: fc.Arbitrary<StockRecord> = fc.record({
  requestId: fc.stringMatching(/^[A-Za-z0-9_.:-]{1,64}$/),
  userId: fc.bigInt({ min: 1n, max: 9223372036854775807n }).map(String),
  reservationId: fc.uuid(),
  messageId: fc.uuid(),
  payloadHash: fc.stringMatching(/^[0-9a-f]{64}$/),
  state: fc.constantFrom(...Object.values(RedisRecordState)),
  activityVersion: fc.nat().map(String),
  purchaseNo: fc.integer({ min: 1, max: 99 }),
  reservedAtMs: fc.maxSafeNat(),
  expiresAtMs: fc.maxSafeNat(),
  orderId: fc.option(fc.bigInt({ min: 1n, max: 9223372036854775807n }).map(String)),
  reason: fc.option(fc.constantFrom('REJECTED_EXPIRED', 'PAY_TIMEOUT')),
  appliedVersion: fc.nat(),
  unitReturned: fc.boolean(),
});

test('unpack(pack(record)) is the record, ids beyond 2^53 too', () => {
  fc.assert(fc.property(records, (record) => {
    expect(unpackRecord(record.requestId, packRecord(record))).toEqual(record);
  }));
});

test('a record has no blank, which would end it inside of a script argument', () => {
  fc.assert(fc.property(records, (record) => { expect(packRecord(record)).not.toMatch(/\s/); }));
});

const fresh = freshRecord({
  requestId: 'r-1', userId: '9007199254740993', payloadHash: 'ab'.repeat(32), reservationId: 'v', messageId: 'm', reservedAtMs: 1, expiresAtMs: 2,
}, '3');

test('a fresh record is pending, unapplied, and begins with state, user and hash', () => {
  expect(packRecord(fresh)).toBe(`P|9007199254740993|${'ab'.repeat(32)}|v|m|3|1|1|2|0|0||`);
});

test.each(['', 'P', 'P|1|2', `X${packRecord(fresh).slice(1)}`, `${packRecord(fresh)}|`, packRecord(fresh).replace('|1|2|', '|1|x|')])('damaged text %j is null', (text) => {
  expect(unpackRecord('r-1', text)).toBeNull();
});

test.each([
  { requestId: 'a b' }, { requestId: '' }, { userId: '0' }, { userId: '1 2' }, { payloadHash: 'XYZ' }, { reservationId: 'a|b' }, { activityVersion: '' },
  { expiresAtMs: 1.5 },
])('packing %j throws', (wrong) => {
  expect(() => packRecord({ ...fresh, ...wrong })).toThrow();
});

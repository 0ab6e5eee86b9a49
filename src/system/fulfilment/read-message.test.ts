// Values that parse but fit no column are malformed, not failures that come back for ever.
import { expect, test } from 'vitest';

import type { OrderMessage } from '../../domain/order-message.js';
import { readMessage } from './read-message.js';

const GOOD: OrderMessage = {
  schemaVersion: 1, messageId: '00000000-0000-7000-8000-000000000001', reservationId: '00000000-0000-7000-8000-000000000002', requestId: 'r', activityId: '1', activityVersion: '1',
  skuId: '1', userId: '9223372036854775807', purchaseNo: 1, quantity: 1, payloadHash: 'ab'.repeat(32), reservedAtMs: 1, expiresAtMs: 2,
};
const read = (change: Partial<OrderMessage>): ReturnType<typeof readMessage> => readMessage({ value: JSON.stringify({ ...GOOD, ...change }) });

test('a good message is read as it is', () => {
  expect(read({})).toEqual({ ok: true, message: GOOD });
});

test.each([
  [{ purchaseNo: 40_000 }], [{ activityVersion: '9999999999999999999' }], [{ reservedAtMs: -1 }], [{ expiresAtMs: Number.MAX_SAFE_INTEGER }], [{ reservedAtMs: 2 }], [{ userId: '9223372036854775808' }],
])('%o is malformed', (change) => {
  expect(read(change)).toMatchObject({ ok: false });
});

test('no JSON is malformed', () => {
  expect(readMessage({ value: 'x' })).toEqual({ ok: false, problem: 'not JSON' });
});

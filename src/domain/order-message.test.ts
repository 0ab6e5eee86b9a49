/** The message as it is written reads back as it was, and is what `JSON.stringify` writes. */
import { expect, test } from 'vitest';

import { encodeOrderMessage, parseOrderMessage, type OrderMessage } from './order-message.js';

const message: OrderMessage = {
  schemaVersion: 1, messageId: '018f0000-0000-7000-8000-0000000000f1', reservationId: '018f0000-0000-7000-8000-0000000000ff', requestId: 'A-z_0.9:', activityId: '10001', activityVersion: '3', skuId: '20001',
  userId: '9223372036854775807', purchaseNo: 2, quantity: 1, payloadHash: 'ab'.repeat(32), reservedAtMs: 1_796_068_146_214, expiresAtMs: 1_796_068_446_214,
};

test('text and back', () => {
  expect(encodeOrderMessage(message)).toBe(JSON.stringify(message));
  expect(parseOrderMessage(encodeOrderMessage(message))).toEqual({ ok: true, message });
});

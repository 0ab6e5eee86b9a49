// C35: PostgreSQL's int8, sums and counts come as strings; available 9 and allocated 1 are 10 units, and ids beyond 2^53 stay what they are.
import { expect, test } from 'vitest';

import { reservationOf, skuOf } from './reconciliation-rows.js';

const SKU_ROW = {
  activity_version: '3', activity_status: 20, sku_status: 10, unit_price: '9900', currency: 'CNY', planned_stock: 10, start_at_ms: '1', end_at_ms: '2', rebuy_after_cancel: false,
  row_available: '9', row_allocated: '1', token_available: '4', token_allocated: '6',
};

test.each([['row', 9, 1], ['token', 4, 6]])('%s: the allocator says which of the two stocks counts, in numbers', (allocator, available, allocated) => {
  const sku = skuOf(SKU_ROW, allocator);
  expect(sku).toMatchObject({ available, allocated, isOnSale: true });
  expect(sku.available + sku.allocated).toBe(10);
});

test('an activity that was stopped, or a SKU that was withdrawn, is not on sale', () => {
  expect(skuOf({ ...SKU_ROW, activity_status: 30 }, 'row').isOnSale).toBe(false);
  expect(skuOf({ ...SKU_ROW, sku_status: 40 }, 'row').isOnSale).toBe(false);
});

test('ids beyond 2^53 stay strings', () => {
  const row = reservationOf({
    reservation_id: 'a', request_id: 'r', first_message_id: 'm', user_id: '9007199254740993', purchase_no: 1, status: 10, order_id: '9223372036854775807', version: '2', reason: null, payload_hash: null,
    reserved_at_ms: '1', expires_at_ms: '2', changed_at_ms: '3', has_unsent_event: false, has_release: false,
  });
  expect(row).toMatchObject({ userId: '9007199254740993', orderId: '9223372036854775807', version: 2 });
});

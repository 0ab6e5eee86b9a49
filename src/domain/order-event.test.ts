// The event on the events topic: encoding, and every problem of a malformed one.
import { expect, test } from 'vitest';

import { encodeOrderEvent, parseOrderEvent, type OrderEvent } from './order-event.js';

const event: OrderEvent = {
  schemaVersion: 1,
  eventId: '0197f1d0-0000-7000-8000-000000000001',
  type: 'ORDER_CREATED',
  aggregateId: '0197f1d0-0000-7000-8000-00000000000a',
  aggregateVersion: 1,
  reservationId: '0197f1d0-0000-7000-8000-00000000000a',
  requestId: 'r-1',
  activityId: '10001',
  skuId: '20001',
  userId: '9007199254740993',
  orderId: '9223372036854775807',
  reason: null,
  returnsUnit: false,
  clearsUserMark: false,
};

test('an event survives its encoding, ids beyond 2^53 too', () => {
  expect(parseOrderEvent(encodeOrderEvent(event))).toEqual({ ok: true, event });
});

test.each(['', 'null', '[', '7'])('%j is no event and does not throw', (text) => {
  expect(parseOrderEvent(text).ok).toBe(false);
});

test('every problem is reported', () => {
  const parsed = parseOrderEvent(JSON.stringify({ ...event, type: 'MADE_UP', aggregateVersion: '1', returnsUnit: 1 }));
  expect(parsed).toEqual({
    ok: false,
    problems: ['type is missing or malformed', 'aggregateVersion is missing or malformed', 'returnsUnit is missing or malformed'],
  });
});

test('an event of another aggregate than its reservation is refused', () => {
  expect(parseOrderEvent(JSON.stringify({ ...event, aggregateId: '0197f1d0-0000-7000-8000-00000000000b' })).ok).toBe(false);
});

/** Messages and events that went astray: one wrong thing at a time is put into a right world, and the judge named here has to catch it. */
import { describe, expect, it } from 'vitest';
import { drop, ELSEWHERE, missedIn, nth, openOrder, type BrokenWorld } from './broken-world.test-support.js';

const CASES: readonly BrokenWorld[] = [
  { wrong: 'a resend under a new message id', judge: 'stable-message-id', claim: /2 message ids/, edit: (draft) => { draft.kafka.orders.push({ ...nth(draft.kafka.orders, 0), offset: '77', messageId: ELSEWHERE }); } },
  { wrong: 'an order row with another message id', judge: 'stable-message-id', edit: (draft) => { openOrder(draft).sourceMessageId = ELSEWHERE; } },
  { wrong: 'an Inbox row of another message for the reservation', judge: 'stable-message-id', edit: (draft) => { draft.postgres.inbox.push({ ...nth(draft.postgres.inbox, 0), messageId: ELSEWHERE, resultCode: 'ALREADY_ORDERED' }); } },
  { wrong: 'one message id for two reservations', judge: 'stable-message-id', edit: (draft) => {
    nth(draft.kafka.orders, 1).messageId = nth(draft.kafka.orders, 0).messageId;
  } },
  { wrong: 'an Inbox row dropped', judge: 'inbox-once', claim: /has 0 Inbox rows/, edit: (draft) => { draft.postgres.inbox.splice(1, 1); } },
  { wrong: 'an Inbox row doubled', judge: 'inbox-once', claim: /has 2 Inbox rows/, edit: (draft) => { draft.postgres.inbox.push({ ...nth(draft.postgres.inbox, 0) }); } },
  { wrong: 'an Inbox row without its order', judge: 'inbox-once', claim: /no order/, edit: (draft) => { drop(draft.postgres.orders, openOrder(draft)); } },
  { wrong: 'an Inbox row that names another order', judge: 'inbox-once', claim: /the order is/, edit: (draft) => { nth(draft.postgres.inbox, 0).orderId = '1'; } },
  { wrong: 'an Inbox row that says refused while there is an order', judge: 'inbox-once', claim: /has order/, edit: (draft) => { nth(draft.postgres.inbox, 0).resultCode = 'REJECTED_EXPIRED'; } },
  ...([0, 10, 30] as const).map((status): BrokenWorld => ({ wrong: `an Inbox row that says closed while the reservation is in state ${String(status)}`, judge: 'inbox-once', claim: /says ALREADY_CLOSED, but the reservation is not closed/, edit: (draft) => {
    const order = openOrder(draft);
    drop(draft.postgres.orders, order);
    for (const row of draft.postgres.reservations) if (row.reservationId === order.reservationId) row.status = status;
    for (const row of draft.postgres.inbox) if (row.reservationId === order.reservationId) Object.assign(row, { resultCode: 'ALREADY_CLOSED', orderId: null });
  } })),
  { wrong: 'an Inbox row with a result of no list', judge: 'inbox-once', claim: /no result/, edit: (draft) => { nth(draft.postgres.inbox, 0).resultCode = 'DONE'; } },
  { wrong: 'an Inbox row of a message that never was', judge: 'inbox-once', claim: /never held such a message/, edit: (draft) => { draft.postgres.inbox.push({ ...nth(draft.postgres.inbox, 0), messageId: ELSEWHERE, resultCode: 'ALREADY_ORDERED' }); } },
  { wrong: 'an Inbox row of another group only', judge: 'inbox-once', claim: /has 0 Inbox rows/, edit: (draft) => { nth(draft.postgres.inbox, 0).consumerGroup = 'other'; } },
  { wrong: 'an order without items', judge: 'inbox-once', claim: /0 items/, edit: (draft) => { draft.postgres.itemMismatches.push({ orderId: openOrder(draft).orderId, items: 0 }); } },
  { wrong: 'an event never written', judge: 'outbox-complete', claim: /was never announced as ORDER_CREATED/, edit: (draft) => {
    const { reservationId } = openOrder(draft);
    draft.postgres.outbox = draft.postgres.outbox.filter((row) => row.aggregateId !== reservationId);
    draft.kafka.events = draft.kafka.events.filter((event) => event.reservationId !== reservationId);
  } },
  { wrong: 'a DEAD event', judge: 'outbox-complete', claim: /DEAD/, edit: (draft) => { nth(draft.postgres.outbox, 0).status = 40; } },
  { wrong: 'an event unsent although drained', judge: 'outbox-complete', claim: /is unsent/, edit: (draft) => { nth(draft.postgres.outbox, 0).status = 10; } },
  { wrong: 'an event marked SENT that the topic lacks', judge: 'outbox-complete', claim: /not in the topic/, edit: (draft) => { draft.kafka.events.splice(0, 1); } },
  { wrong: 'an event delivered as another', judge: 'outbox-complete', claim: /was delivered as/, edit: (draft) => { nth(draft.kafka.events, 0).aggregateVersion += 1; } },
  { wrong: 'an event of an order that is not there', judge: 'outbox-complete', claim: /the tables do not say so/, edit: (draft) => { drop(draft.postgres.orders, openOrder(draft)); } },
  { wrong: 'a payment never announced', judge: 'outbox-complete', claim: /ORDER_PAID/, edit: (draft) => { openOrder(draft).status = 30; } },
];

describe('messages and events that went astray', () => {
  it.each(CASES.map((broken) => [broken.judge, broken.wrong, broken] as const))('%s catches: %s', (_, __, broken) => {
    expect(missedIn(broken)).toEqual([]);
  });
});

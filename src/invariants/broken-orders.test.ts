/** Orders too many, too few, lost or invented: one wrong thing at a time is put into a right world, and the judge named here has to catch it. */
import { describe, expect, it } from 'vitest';
import { arrivalTold, cancelledOrder, changesOf, drop, ELSEWHERE, missedIn, nth, openOrder, ROW, tell, twoOpenOrders, type BrokenWorld } from './broken-world.test-support.js';

const CASES: readonly BrokenWorld[] = [
  { wrong: 'more reservations ordered than stock', judge: 'no-oversell', claim: /units are held, the stock is 5/, edit: (draft) => { draft.run.stock = 5; } },
  { wrong: 'one unit too many at one commit only, repaired by the end', judge: 'no-oversell', claim: /^After commit/, edit: (draft) => {
    // Cancelled orders held a unit for a while: with just enough stock for the end there was too little then.
    draft.run.stock = draft.postgres.reservations.filter((row) => row.status === 10).length;
  } },
  { wrong: 'one token in two live orders', judge: 'no-oversell', claim: /stands in 2 live orders/, edit: (draft) => {
    const [first, second] = twoOpenOrders(draft);
    second.inventoryTokenId = first.inventoryTokenId;
  } },
  { wrong: 'a bucket below zero', judge: 'no-oversell', world: ROW, claim: /Bucket 0/, edit: (draft) => { nth(draft.postgres.inventory, 0).available = -1; } },
  { wrong: 'more winners told than units', judge: 'no-oversell', claim: /told to clients/, edit: (draft) => {
    // One of ten ended and its unit came back: two more told are one too many.
    for (const last of ['1', '2']) tell(draft, arrivalTold(draft, (code) => code === 'SOLD_OUT'), 'QUEUED', 202, `${ELSEWHERE.slice(0, -1)}${last}`);
  } },
  { wrong: 'a second order of the same user', judge: 'one-order-per-user', claim: /has 2 orders/, edit: (draft) => { nth(draft.postgres.orders, 1).userId = nth(draft.postgres.orders, 0).userId; } },
  { wrong: 'two live orders of a user in the commit log only', judge: 'one-order-per-user', claim: /^After commit .* holds 2 orders/, edit: (draft) => {
    const inserts = changesOf(draft, 'orders').filter((change) => change.kind === 'insert');
    nth(inserts, 1).row['user_id'] = nth(inserts, 0).row['user_id'] ?? null;
  } },
  { wrong: 'a user with two ordered reservation rows', judge: 'one-order-per-user', claim: /holds 2 reservations/, edit: (draft) => {
    const ordered = draft.postgres.reservations.filter((row) => row.status === 10);
    nth(ordered, 1).userId = nth(ordered, 0).userId;
  } },
  { wrong: 'an order deleted from the facts', judge: 'no-lost-reservation', claim: /there is no such order/, edit: (draft) => { drop(draft.postgres.orders, openOrder(draft)); } },
  { wrong: 'an order deleted with its reservation row', judge: 'no-lost-reservation', claim: /the Inbox says ORDER_CREATED/, edit: (draft) => {
    const order = openOrder(draft);
    drop(draft.postgres.orders, order);
    draft.postgres.reservations = draft.postgres.reservations.filter((row) => row.reservationId !== order.reservationId);
  } },
  { wrong: 'an order deleted with every trace in PostgreSQL', judge: 'no-lost-reservation', claim: /PostgreSQL knows no end of it/, edit: (draft) => {
    const { reservationId } = openOrder(draft);
    draft.postgres.orders = draft.postgres.orders.filter((row) => row.reservationId !== reservationId);
    draft.postgres.reservations = draft.postgres.reservations.filter((row) => row.reservationId !== reservationId);
    draft.postgres.inbox = draft.postgres.inbox.filter((row) => row.reservationId !== reservationId);
  } },
  { wrong: 'a cancelled order deleted', judge: 'no-lost-reservation', edit: (draft) => { drop(draft.postgres.orders, cancelledOrder(draft)); } },
  { wrong: 'a reservation only Redis knows', judge: 'no-lost-reservation', claim: /Redis holds its record/, edit: (draft) => {
    draft.redis.records.push({ ...nth(draft.redis.records, 0), reservationId: ELSEWHERE, messageId: ELSEWHERE, requestId: 'r5-999', state: 'P' });
  } },
  { wrong: 'a reservation that Redis calls released and PostgreSQL never saw', judge: 'no-lost-reservation', edit: (draft) => {
    draft.redis.records.push({ ...nth(draft.redis.records, 0), reservationId: ELSEWHERE, messageId: ELSEWHERE, requestId: 'r5-999', state: 'L' });
  } },
  { wrong: 'a message without an end', judge: 'no-lost-reservation', claim: /the topic holds its message/, edit: (draft) => { draft.kafka.orders.push({ ...nth(draft.kafka.orders, 0), offset: '77', reservationId: ELSEWHERE, messageId: ELSEWHERE }); } },
  { wrong: 'a reservation row left pending although drained', judge: 'no-lost-reservation', claim: /PENDING_DB/, edit: (draft) => {
    draft.postgres.reservations.push({ ...nth(draft.postgres.reservations, 0), reservationId: ELSEWHERE, requestId: 'r5-999', status: 0, orderId: null });
    draft.redis.records.push({ ...nth(draft.redis.records, 0), reservationId: ELSEWHERE, messageId: ELSEWHERE, requestId: 'r5-999', state: 'P' });
  } },
  { wrong: 'an acceptance whose answer could not be read and that no store knows', judge: 'no-lost-reservation', claim: /no store knows it/, edit: (draft) => {
    const index = arrivalTold(draft, (code) => code === 'SOLD_OUT');
    draft.history.columns.answerCode[index] = 255;
    draft.history.columns.httpStatus[index] = 202;
  } },
  { wrong: 'not drained, but the consumer is idle and nobody resends', judge: 'no-lost-reservation', edit: (draft) => {
    draft.settle.drainedUs = null;
    draft.redis.records.push({ ...nth(draft.redis.records, 0), reservationId: ELSEWHERE, messageId: ELSEWHERE, requestId: 'r5-999', state: 'P' });
  } },
  { wrong: 'an order for a request nobody scheduled', judge: 'no-phantom-order', claim: /not in the schedule/, edit: (draft) => { openOrder(draft).requestId = 'r5-99999'; } },
  { wrong: 'an order under another seed', judge: 'no-phantom-order', claim: /not in the schedule/, edit: (draft) => { openOrder(draft).requestId = openOrder(draft).requestId.replace('r5', 'r6'); } },
  { wrong: 'an order for another user', judge: 'no-phantom-order', claim: /the schedule gives request/, edit: (draft) => { openOrder(draft).userId = '9007199254741999'; } },
  { wrong: 'an order for another SKU', judge: 'no-phantom-order', claim: /SKU 71/, edit: (draft) => { openOrder(draft).skuId = '71'; } },
  { wrong: 'an order for a request that was never sent', judge: 'no-phantom-order', claim: /never sent/, edit: (draft) => {
    const root = openOrder(draft).requestId.slice(3);
    draft.history.columns.outcome.fill(1, Number(root), draft.history.columns.length);
  } },
  { wrong: 'an order whose reservation is not in the topic', judge: 'no-phantom-order', claim: /not in the topic/, edit: (draft) => {
    const { reservationId } = openOrder(draft);
    draft.kafka.orders = draft.kafka.orders.filter((record) => record.reservationId !== reservationId);
  } },
  { wrong: 'an order whose message was for somebody else', judge: 'no-phantom-order', claim: /its message to user/, edit: (draft) => {
    const { reservationId } = openOrder(draft);
    for (const record of draft.kafka.orders) if (record.reservationId === reservationId) record.userId = '9007199254741999';
  } },
  { wrong: 'a unit that nobody got', judge: 'no-undersell', claim: /10 possible sales were made/, edit: (draft) => {
    const order = openOrder(draft);
    drop(draft.postgres.orders, order);
    draft.postgres.reservations = draft.postgres.reservations.filter((row) => row.reservationId !== order.reservationId);
  } },
  { wrong: 'fewer buyers than stock and one without an order', judge: 'no-undersell', edit: (draft) => {
    draft.run.stock = 1_000;
  } },
];

describe('orders too many, too few, lost or invented', () => {
  it.each(CASES.map((broken) => [broken.judge, broken.wrong, broken] as const))('%s catches: %s', (_, __, broken) => {
    expect(missedIn(broken)).toEqual([]);
  });
});

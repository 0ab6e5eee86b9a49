/** Payments, releases and dead letters that went wrong: one wrong thing at a time is put into a right world, and the judge named here has to catch it. */
import { describe, expect, it } from 'vitest';
import type { Facts } from '../facts/facts.js';
import { changesOf, drop, ELSEWHERE, found, judged, LIVES, missedIn, nth, WITHDRAWN, WITHDRAWN_ROW, type BrokenWorld } from './broken-world.test-support.js';
import type { Draft } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';

type Order = Draft['postgres']['orders'][number];

function orderIn(draft: Draft, status: number): Order {
  return found(draft.postgres.orders, (order) => order.status === status);
}

function paymentIn(draft: Draft, status: number): Draft['postgres']['payments'][number] {
  return found(draft.postgres.payments, (payment) => payment.status === status);
}

/** A payment that came when its order had ended, and went back. */
function lateRefund(draft: Draft): Draft['postgres']['payments'][number] {
  return found(draft.postgres.payments, (row) => row.status === 50 && draft.postgres.orders.some((order) => order.orderId === row.orderId && order.status === 40));
}

function toldBy(draft: Draft, code: string): Draft['history']['payerTellings'][number] {
  return found(draft.history.payerTellings, (told) => told.code === code);
}

/** Writes one more change of a table behind everything else that was committed. */
function commitLater(draft: Draft, table: string, row: Record<string, string | null>): void {
  const last = nth(draft.commitLog.transactions, -1);
  draft.commitLog.transactions.push({ ...last, lsn: `0/${(Number.parseInt(last.lsn.slice(2), 16) + 256).toString(16).toUpperCase()}`, changes: [{ table, kind: table === 'inventory_ledger' ? 'insert' : 'update', row }] });
}

/** One more step on an order's path, and its end as it was. */
function passThrough(draft: Draft, order: Order, status: number): void {
  for (const step of [status, order.status]) {
    commitLater(draft, 'orders', { order_id: order.orderId, status: String(step), reservation_id: order.reservationId, user_id: order.userId });
  }
}

/** As if the undertaker had kept the letter and not ended its reservation. Returns which. */
function openLetter(draft: Draft): string | null {
  const { reservationId } = nth(draft.postgres.deadLetters, 0);
  for (const letter of draft.postgres.deadLetters) if (letter.reservationId === reservationId) Object.assign(letter, { status: 0, resolution: null });
  draft.postgres.reservations = draft.postgres.reservations.filter((row) => row.reservationId !== reservationId);
  return reservationId;
}

const CASES: readonly (BrokenWorld & { readonly world: Facts })[] = [
  { world: LIVES, judge: 'release-once', wrong: 'two RELEASE entries of one reservation', claim: /2 times: so many RELEASE entries are in the ledger/, edit: (draft) => {
    draft.postgres.ledger.push({ ...found(draft.postgres.ledger, (entry) => entry.type === 20), ledgerId: '1', idempotencyKey: 'RELEASE:again' });
  } },
  { world: LIVES, judge: 'release-once', wrong: 'a RELEASE entry committed twice, one of them gone at the end', claim: /were committed/, edit: (draft) => {
    const entry = found(draft.postgres.ledger, (row) => row.type === 20);
    commitLater(draft, 'inventory_ledger', { ledger_id: '1', reservation_id: entry.reservationId, ledger_type: '20' });
  } },
  { world: LIVES, judge: 'release-once', wrong: 'a reservation that became RELEASED twice', claim: /its row became RELEASED/, edit: (draft) => {
    const row = found(draft.postgres.reservations, (candidate) => candidate.status === 40);
    for (const status of ['10', '40']) commitLater(draft, 'inventory_reservation', { reservation_id: row.reservationId, status, order_id: row.orderId });
  } },
  { world: LIVES, judge: 'release-once', wrong: 'a token taken from its reservation twice', claim: /a token was taken from it/, edit: (draft) => {
    const taken = found(changesOf(draft, 'inventory_token'), (change) => change.row['status'] === '0');
    const before = found(changesOf(draft, 'inventory_token'), (change) => change.row['token_id'] === taken.row['token_id'] && change.row['status'] !== '0');
    commitLater(draft, 'inventory_token', before.row);
    commitLater(draft, 'inventory_token', taken.row);
  } },
  { world: LIVES, judge: 'release-once', wrong: 'a second event that gives the unit back', claim: /2 times: so many events/, edit: (draft) => {
    draft.kafka.events.push({ ...found(draft.kafka.events, (event) => event.returnsUnit), offset: '900', eventId: ELSEWHERE });
  } },
  { world: LIVES, judge: 'release-once', wrong: 'a unit given back in Redis while its order stands', claim: /no durable fact released it/, edit: (draft) => { found(draft.redis.records, (record) => record.state === 'O').unitReturned = true; } },
  { world: WITHDRAWN, judge: 'release-once', wrong: 'a withdrawn unit given back in Redis', claim: /no durable fact released it/, edit: (draft) => { found(draft.redis.records, (record) => record.state === 'L').unitReturned = true; } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'a cancelled order that was paid at one commit', claim: /cancelled and then paid/, edit: (draft) => { passThrough(draft, orderIn(draft, 40), 30); } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'a paid order that was cancelled at one commit', claim: /paid and then cancelled/, edit: (draft) => { passThrough(draft, orderIn(draft, 30), 40); } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'a cancelled order with a time of payment', claim: /has a time of payment/, edit: (draft) => { orderIn(draft, 40).paidAtUs = 1; } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'a paid order without a payment', claim: /0 succeeded payments/, edit: (draft) => {
    const order = orderIn(draft, 30);
    draft.postgres.payments = draft.postgres.payments.filter((payment) => payment.orderId !== order.orderId);
  } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'an order paid by two payments', claim: /2 succeeded payments/, edit: (draft) => {
    draft.postgres.payments.push({ ...paymentIn(draft, 20), paymentId: ELSEWHERE, tradeNo: 't-other', callbackId: 'c-other' });
  } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'a late payment that was kept', claim: /is CANCELLED \(40\) and has 1 succeeded/, edit: (draft) => {
    const late = found(draft.postgres.payments, (payment) => payment.status === 50 && draft.postgres.orders.some((order) => order.orderId === payment.orderId && order.status === 40));
    late.status = 20;
  } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'an order paid with less than it costs', claim: /is over 1 CNY/, edit: (draft) => { paymentIn(draft, 20).amount = '1'; } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'an order paid in another currency', claim: /USD/, edit: (draft) => { paymentIn(draft, 20).currency = 'USD'; } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'a refund that nobody makes', claim: /nobody has been told to make/, edit: (draft) => {
    const payment = found(draft.postgres.payments, (row) => row.status === 50 && draft.postgres.orders.some((order) => order.orderId === row.orderId && order.status === 40));
    payment.status = 40;
    draft.postgres.compensations = draft.postgres.compensations.filter((task) => task.orderId !== payment.orderId);
  } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'a closed order whose money is not back', claim: /no payment of it was refunded/, edit: (draft) => {
    const order = orderIn(draft, 50);
    for (const payment of draft.postgres.payments) if (payment.orderId === order.orderId) payment.status = 30;
  } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'a payment for an order that is not there', claim: /does not exist/, edit: (draft) => { drop(draft.postgres.orders, orderIn(draft, 30)); } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'one trade booked twice', claim: /is booked 2 times/, edit: (draft) => {
    const [kept] = draft.postgres.unmatchedPayments;
    draft.postgres.payments.push({ ...paymentIn(draft, 50), paymentId: ELSEWHERE, tradeNo: kept?.tradeNo ?? null });
  } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'money that was acknowledged and is booked nowhere', claim: /the money is booked nowhere/, edit: (draft) => { draft.postgres.unmatchedPayments.pop(); } },
  { world: LIVES, judge: 'paid-never-cancelled', wrong: 'money booked as less than it was', claim: /brought 9899 and is booked as 1/, edit: (draft) => {
    for (const row of draft.postgres.unmatchedPayments) row.amount = '1';
  } },
  ...([[20, 'calls itself done'], [40, 'was given up \\(DEAD\\)'], [50, 'was cancelled']] as const).flatMap(([status, words]) => (['paid-never-cancelled', 'money-accounted'] as const).map((judge): BrokenWorld & { readonly world: Facts } => ({
    world: LIVES, judge, wrong: `a refund whose task is over (${String(status)}) and whose money is not back`, claim: new RegExp(`the task that was to make it ${words}`), edit: (draft) => {
      const payment = lateRefund(draft);
      payment.status = 40;
      for (const task of draft.postgres.compensations) if (task.orderId === payment.orderId) task.status = status;
      draft.channel.refunds = draft.channel.refunds.filter((refund) => refund.tradeNo !== payment.tradeNo);
    },
  }))),
  { world: LIVES, judge: 'money-accounted', wrong: 'a refund that waits although the system was drained', claim: /although the system was drained/, edit: (draft) => {
    const payment = lateRefund(draft);
    payment.status = 40;
    for (const task of draft.postgres.compensations) if (task.orderId === payment.orderId) task.status = 30;
  } },
  { world: LIVES, judge: 'money-accounted', wrong: 'a payment paid back under two keys', claim: /was paid back 2 times, under the keys/, edit: (draft) => {
    draft.channel.refunds.push({ ...nth(draft.channel.refunds, 0), refundId: ELSEWHERE });
  } },
  { world: LIVES, judge: 'money-accounted', wrong: 'a payment paid back under a key that is not its own', claim: /which keeps nobody from paying it back again/, edit: (draft) => { nth(draft.channel.refunds, 0).refundId = ELSEWHERE; } },
  { world: LIVES, judge: 'money-accounted', wrong: 'money booked for an order of somebody else', claim: /was paid for order 77 and is booked for order/, edit: (draft) => { for (const charge of draft.channel.charges) charge.orderId = '77'; } },
  { world: LIVES, judge: 'money-accounted', wrong: 'more paid back than was paid', claim: /went back 99999 CNY/, edit: (draft) => { nth(draft.channel.refunds, 0).amount = '99999'; } },
  { world: LIVES, judge: 'money-accounted', wrong: 'a part of the money kept', claim: /went back 1 CNY/, edit: (draft) => { nth(draft.channel.refunds, 0).amount = '1'; } },
  { world: LIVES, judge: 'money-accounted', wrong: 'another currency paid back', claim: /went back \d+ USD/, edit: (draft) => { nth(draft.channel.refunds, 0).currency = 'USD'; } },
  { world: LIVES, judge: 'money-accounted', wrong: 'a refund that the channel never heard of', claim: /the channel was never asked for its money/, edit: (draft) => { draft.channel.refunds.shift(); } },
  { world: LIVES, judge: 'money-accounted', wrong: 'money asked back that nobody paid', claim: /the channel has never had it/, edit: (draft) => { draft.channel.refunds.push({ ...nth(draft.channel.refunds, 0), tradeNo: 't-never', effect: 'refused' }); } },
  { world: LIVES, judge: 'money-accounted', wrong: 'the money of a paid order paid back', claim: /the channel has paid its money back/, edit: (draft) => {
    const payment = paymentIn(draft, 20);
    draft.channel.refunds.push({ ...nth(draft.channel.refunds, 0), refundId: payment.paymentId, tradeNo: payment.tradeNo ?? '' });
  } },
  { world: LIVES, judge: 'money-accounted', wrong: 'the money of a late payment kept', claim: /and its order is CANCELLED \(40\): its money is kept/, edit: (draft) => {
    const payment = lateRefund(draft);
    payment.status = 20;
    draft.channel.refunds = draft.channel.refunds.filter((refund) => refund.tradeNo !== payment.tradeNo);
  } },
  { world: LIVES, judge: 'money-accounted', wrong: 'money taken and called failed', claim: /in state FAILED \(30\), and it is booked nowhere/, edit: (draft) => { paymentIn(draft, 20).status = 30; } },
  { world: LIVES, judge: 'money-accounted', wrong: 'money acknowledged and booked nowhere', claim: /whose callback was acknowledged, and it is booked nowhere/, edit: (draft) => { draft.postgres.unmatchedPayments.pop(); } },
  { world: LIVES, judge: 'money-accounted', wrong: 'money that nobody asked for, of a payment that was started', claim: /in state UNKNOWN \(10\), and it is booked nowhere/, edit: (draft) => {
    const payment = paymentIn(draft, 20);
    draft.history.payerTellings = draft.history.payerTellings.filter((told) => told.channelTradeNo !== payment.tradeNo);
    Object.assign(payment, { status: 10, tradeNo: null, callbackId: null });
  } },
  { world: LIVES, judge: 'money-accounted', wrong: 'money booked that the channel never took', claim: /which the channel has never taken/, edit: (draft) => { drop(draft.channel.charges, found(draft.channel.charges, (charge) => charge.tradeNo === paymentIn(draft, 20).tradeNo)); } },
  { world: LIVES, judge: 'money-accounted', wrong: 'money kept as unmatched that the channel never took', claim: /stands among the unmatched payments, and the channel has never taken it/, edit: (draft) => {
    const [kept] = draft.postgres.unmatchedPayments;
    draft.channel.charges = draft.channel.charges.filter((charge) => charge.tradeNo !== kept?.tradeNo);
  } },
  { world: LIVES, judge: 'money-accounted', wrong: 'a payment booked over another amount', claim: /and is booked as 1 CNY/, edit: (draft) => { paymentIn(draft, 20).amount = '1'; } },
  { world: LIVES, judge: 'money-accounted', wrong: 'an unmatched payment kept over another amount', claim: /is kept as unmatched over 1/, edit: (draft) => { nth(draft.postgres.unmatchedPayments, 0).amount = '1'; } },
  { world: LIVES, judge: 'money-accounted', wrong: 'an unmatched payment that went back and is still open', claim: /still stands among the unmatched payments/, edit: (draft) => {
    const { tradeNo, amount } = nth(draft.postgres.unmatchedPayments, 0);
    draft.channel.refunds.push({ ...nth(draft.channel.refunds, 0), refundId: ELSEWHERE, tradeNo, amount });
  } },
  { world: LIVES, judge: 'honest-answers', wrong: 'a payer told PAID before the commit', claim: /became PAID \(30\) at least/, edit: (draft) => { toldBy(draft, 'PAID').answeredUs = draft.run.clock.atStart.monoUs; } },
  { world: LIVES, judge: 'honest-answers', wrong: 'a payer told PAID of an order that was never paid', claim: /the order was never PAID/, edit: (draft) => { toldBy(draft, 'UNMATCHED').code = 'PAID'; } },
  { world: LIVES, judge: 'honest-answers', wrong: 'a user told CANCELLED whose order stands', claim: /the order was never CANCELLED/, edit: (draft) => {
    Object.assign(toldBy(draft, 'CANCELLED'), { orderId: found(draft.postgres.orders, (order) => order.status === 30).orderId });
  } },
  { world: LIVES, judge: 'honest-answers', wrong: 'the channel told of a refund that nobody makes', claim: /is in state 20/, edit: (draft) => {
    const told = toldBy(draft, 'REFUND_PENDING');
    found(draft.postgres.payments, (payment) => payment.tradeNo === told.channelTradeNo).status = 20;
  } },
  { world: LIVES, judge: 'honest-answers', wrong: 'told FINAL_SOLD_OUT, and units were sold after it', claim: /was told FINAL_SOLD_OUT/, edit: (draft) => {
    draft.history.columns.answerCode[0] = 20;
    draft.history.columns.httpStatus[0] = 410;
  } },
  { world: LIVES, judge: 'dead-letters-accounted', wrong: 'a message passed over', claim: /was passed over/, edit: (draft) => { draft.postgres.inbox.shift(); } },
  { world: LIVES, judge: 'dead-letters-accounted', wrong: 'an unreadable record passed over', claim: /passed over without a dead letter/, edit: (draft) => {
    draft.kafka.malformed.push({ topic: draft.run.namespace.ordersTopic, partition: 0, offset: nth(draft.kafka.orders, 0).offset, problem: 'not JSON' });
  } },
  { world: LIVES, judge: 'dead-letters-accounted', wrong: 'a dead letter that the undertaker read and did not keep', claim: /is not in the table/, edit: (draft) => { draft.postgres.deadLetters.pop(); } },
  { world: LIVES, judge: 'dead-letters-accounted', wrong: 'a kept dead letter that never was in the topic', claim: /never in the dead-letter topic/, edit: (draft) => { draft.kafka.deadLetters.pop(); } },
  { world: LIVES, judge: 'dead-letters-accounted', wrong: 'a dead letter without a cause', claim: /has no cause/, edit: (draft) => { nth(draft.kafka.deadLetters, 0).cause = ''; } },
  { world: LIVES, judge: 'dead-letters-accounted', wrong: 'a dead letter of a place beyond the end', claim: /that the topic does not have/, edit: (draft) => { nth(draft.kafka.deadLetters, 0).originOffset = '9999'; } },
  { world: LIVES, judge: 'dead-letters-accounted', wrong: 'a dead letter of an unknown topic', claim: /none of the run/, edit: (draft) => { nth(draft.kafka.deadLetters, 0).originTopic = 'other'; } },
  { world: LIVES, judge: 'dead-letters-accounted', wrong: 'a dead letter worked off without an end of its reservation', claim: /has no end/, edit: (draft) => {
    const { reservationId } = nth(draft.postgres.deadLetters, 0);
    draft.postgres.reservations = draft.postgres.reservations.filter((row) => row.reservationId !== reservationId);
  } },
  { world: LIVES, judge: 'no-lost-reservation', wrong: 'a reservation that still waits for a human', claim: /waits for a human \(MANUAL_REQUIRED\)/, edit: (draft) => {
    found(draft.postgres.reservations, (row) => row.failureCode === 'REJECTED_BY_HAND').status = 60;
  } },
  { world: LIVES, judge: 'no-lost-reservation', wrong: 'a reservation whose only message is an open dead letter', claim: /is a dead letter that nobody has worked off/, edit: (draft) => { openLetter(draft); } },
  { world: LIVES, judge: 'no-lost-reservation', wrong: 'the same, not drained, with nobody left who would read it', claim: /is a dead letter that nobody has worked off/, edit: (draft) => {
    openLetter(draft);
    draft.settle.drainedUs = null;
  } },
  { world: LIVES, judge: 'legal-state-path', wrong: 'a reservation that somebody ended who had not been asked', claim: /went from PENDING_DB \(0\) to EXPIRED \(50\)/, edit: (draft) => {
    for (const transaction of draft.commitLog.transactions) transaction.changes = transaction.changes.filter((change) => change.table !== 'inventory_reservation' || change.row['status'] !== '60');
  } },
  { world: WITHDRAWN, judge: 'stock-conservation', wrong: 'a unit back on sale that should have left it', edit: (draft) => { found(draft.postgres.tokens, (token) => token.status === 30).status = 0; } },
  { world: WITHDRAWN_ROW, judge: 'stock-conservation', wrong: 'a unit of row stock back on sale that should have left it', claim: /units are allocated while/, edit: (draft) => {
    const [bucket] = draft.postgres.inventory;
    if (bucket !== undefined) Object.assign(bucket, { available: bucket.available + 1, allocated: bucket.allocated - 1 });
  } },
  { world: WITHDRAWN, judge: 'ledger-balanced', wrong: 'a RELEASE entry where nothing goes back on sale', claim: /does not put units back on sale/, edit: (draft) => {
    const row = found(draft.postgres.reservations, (candidate) => candidate.status === 40);
    draft.postgres.ledger.push({ ...nth(draft.postgres.ledger, 0), ledgerId: '1', idempotencyKey: 'RELEASE:x', type: 20, reservationId: row.reservationId, availableDelta: 1, allocatedDelta: -1 });
  } },
  { world: LIVES, judge: 'ledger-balanced', wrong: 'a paid order without its SOLD entry', claim: /has 0 SOLD entries/, edit: (draft) => { drop(draft.postgres.ledger, found(draft.postgres.ledger, (entry) => entry.type === 30)); } },
  { world: WITHDRAWN, judge: 'redis-conservation', wrong: 'a user who may not buy again without his mark', claim: /Redis has no mark of him/, edit: (draft) => {
    const order = orderIn(draft, 40);
    draft.redis.users = draft.redis.users.filter((mark) => mark.userId !== order.userId);
  } },
  { world: LIVES, judge: 'redis-conservation', wrong: 'an ended record whose unit never came back', claim: /never gave its unit back/, edit: (draft) => { found(draft.redis.records, (record) => record.state === 'L').unitReturned = false; } },
  { world: LIVES, judge: 'outbox-complete', wrong: 'an order without the timer that ends it', claim: /has a time to be paid in/, edit: (draft) => {
    draft.postgres.outbox = draft.postgres.outbox.filter((row) => row.type !== 'ORDER_CLOSE_DUE');
    draft.kafka.closes = [];
  } },
  { world: LIVES, judge: 'outbox-complete', wrong: 'a release that does not tell Redis', claim: /does not tell Redis/, edit: (draft) => { found(draft.kafka.events, (event) => event.returnsUnit).returnsUnit = false; } },
  { world: WITHDRAWN, judge: 'outbox-complete', wrong: 'a release that tells Redis to sell a withdrawn unit', claim: /leaves the sale/, edit: (draft) => { found(draft.kafka.events, (event) => event.type === 'RESERVATION_RELEASED').returnsUnit = true; } },
  { world: LIVES, judge: 'legal-state-path', wrong: 'a refunded payment that succeeded again', claim: /went from REFUNDED \(50\) to SUCCEEDED \(20\)/, edit: (draft) => {
    const payment = paymentIn(draft, 50);
    commitLater(draft, 'payment_record', { payment_id: payment.paymentId, order_id: payment.orderId, status: '20' });
  } },
  { world: LIVES, judge: 'one-order-per-user', wrong: 'a second purchase under the first number', claim: /purchase numbers/, edit: (draft) => {
    const [first, second] = [orderIn(draft, 40), orderIn(draft, 50)];
    second.userId = first.userId;
  } },
  { world: LIVES, judge: 'one-order-per-user', wrong: 'a second purchase while the first stands', claim: /has 2 orders/, edit: (draft) => {
    const [first, second] = [orderIn(draft, 30), orderIn(draft, 10)];
    Object.assign(second, { userId: first.userId, purchaseNo: 2 });
  } },
  { world: WITHDRAWN, judge: 'one-order-per-user', wrong: 'a second order where nobody may buy again', claim: /has 2 orders/, edit: (draft) => {
    const [first, second] = [orderIn(draft, 40), orderIn(draft, 30)];
    Object.assign(second, { userId: first.userId, purchaseNo: 2 });
  } },
];

describe('payments, releases and dead letters that went wrong', () => {
  it.each(CASES.map((broken) => [broken.judge, broken.wrong, broken] as const))('%s catches: %s', (_, __, broken) => {
    expect(missedIn(broken)).toEqual([]);
  });
});

describe('release-once', () => {
  it('counts a reservation that was never released among what it has judged', () => {
    const verdict = judged('release-once', handWrittenFacts());
    expect([verdict.outcome, verdict.checked]).toEqual(['holds', 10]);
  });
});

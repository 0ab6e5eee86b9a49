/** Things that look odd and are allowed: a judge that alarms on these cries wolf. */
import { describe, expect, it } from 'vitest';
import { arrivalTold, changesOf, found, hexAt, judged, LIVES, lossProven, nth, openOrder, ROW, tell, TOKEN, type BrokenWorld } from './broken-world.test-support.js';
import { edited } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';

type LegalChange = Pick<BrokenWorld, 'judge' | 'world' | 'edit'> & { readonly odd: string };

/** First arrival of the world turned into a client of a reservation that a failover took away. */
const lostInFailover: BrokenWorld['edit'] = (draft) => {
  lossProven(draft);
  const index = arrivalTold(draft, (code) => code === 'SOLD_OUT');
  draft.history.columns.sentUs[index] = 1_000_100_000;
  draft.history.columns.answeredUs[index] = 1_000_105_000;
  tell(draft, index, 'QUEUED_PENDING_MESSAGE', 202, 'ffffffff-0000-7000-8000-000000000001');
};

/** Redis forgot a request and reserved for it again; the consumer refused the second by the unique request id and announced it. */
const secondReservation: BrokenWorld['edit'] = (draft) => {
  const second = 'ffffffff-0000-7000-8000-000000000001';
  const bounds = nth(draft.kafka.ordersBounds, 0);
  draft.kafka.orders.push({ ...nth(draft.kafka.orders, 0), partition: 0, offset: bounds.endOffset, messageId: second, reservationId: second });
  bounds.endOffset = String(Number(bounds.endOffset) + 1);
  bounds.committedOffset = bounds.endOffset;
  draft.postgres.inbox.push({ ...nth(draft.postgres.inbox, 0), messageId: second, reservationId: second, resultCode: 'REJECTED_DUPLICATE_REQUEST', orderId: null });
  draft.postgres.outbox.push({ ...nth(draft.postgres.outbox, 0), eventId: second, dedupKey: `RESERVATION_REJECTED:${second}`, aggregateId: second, type: 'RESERVATION_REJECTED' });
  const events = nth(draft.kafka.eventsBounds, 0);
  events.endOffset = events.committedOffset = String(Number(events.endOffset) + 1);
  draft.kafka.events.push({ ...nth(draft.kafka.events, 0), offset: '900', eventId: second, reservationId: second, type: 'RESERVATION_REJECTED', orderId: null, returnsUnit: true });
};

/** A reservation was ended without an order before its message came: the consumer found the row and refused the message. */
function closedBefore(draft: Parameters<BrokenWorld['edit']>[0], status: number): void {
  const order = openOrder(draft);
  draft.postgres.orders = draft.postgres.orders.filter((row) => row !== order);
  Object.assign(found(draft.postgres.reservations, (row) => row.reservationId === order.reservationId), { status, orderId: null });
  Object.assign(found(draft.postgres.inbox, (row) => row.reservationId === order.reservationId), { resultCode: 'ALREADY_CLOSED', orderId: null });
}

const LEGAL: readonly LegalChange[] = [
  { odd: 'a winner told 410 before it was accepted', judge: 'one-answer-per-request', edit: (draft) => {
    const index = arrivalTold(draft, (code, at) => code === 'QUEUED' && draft.history.columns.httpStatus[at] === 202);
    tell(draft, index, 'SOLD_OUT', 410);
  } },
  { odd: 'a repeat told 503 or 429 after the acceptance', judge: 'one-answer-per-request', edit: (draft) => {
    tell(draft, arrivalTold(draft, (_, at) => draft.history.columns.httpStatus[at] === 200), 'UNAVAILABLE', 503);
  } },
  { odd: 'a repeat refused while the first answer was on its way', judge: 'one-answer-per-request', edit: (draft) => {
    const repeat = arrivalTold(draft, (_, at) => draft.history.columns.httpStatus[at] === 200);
    for (let index = 0; index < repeat; index += 1) if (hexAt(draft, index) === hexAt(draft, repeat)) draft.history.columns.answeredUs[index] = (draft.history.columns.sentUs[repeat] ?? 0) + 1;
    tell(draft, repeat, 'SOLD_OUT', 410);
  } },
  { odd: 'a query told "queued" without an id while the stores were gone', judge: 'honest-answers', edit: (draft) => {
    const index = arrivalTold(draft, (code) => code === 'SOLD_OUT');
    draft.history.tellings.push({ ...nth(draft.history.tellings, 0), kind: 'poll', arrival: index, requestId: `r5-${String(index)}`, httpStatus: 200, code: 'QUEUED', reservationId: null, orderId: null });
  } },
  { odd: 'an order told within the bound of the clocks', judge: 'honest-answers', edit: (draft) => {
    const telling = found(draft.history.tellings, (candidate) => candidate.code === 'ORDERED');
    const commit = found(draft.commitLog.transactions, (transaction) => transaction.changes.some((change) => change.row['reservation_id'] === telling.reservationId));
    telling.answeredUs = draft.run.clock.atStart.monoUs + (commit.committedAtUs - draft.run.clock.atStart.wallUs) - draft.run.clock.boundUs + 1;
  } },
  { odd: 'a winner whose only answer was 410, but who heard of the order later', judge: 'honest-answers', edit: (draft) => {
    tell(draft, Number(openOrder(draft).requestId.slice(3)), 'SOLD_OUT', 410);
  } },
  { odd: 'a winner without any answer at all', judge: 'honest-answers', edit: (draft) => {
    const { requestId } = openOrder(draft);
    draft.history.tellings = draft.history.tellings.filter((telling) => telling.requestId !== requestId);
    draft.history.columns.outcome[Number(requestId.slice(3))] = 3;
  } },
  { odd: 'every message of the topic twice', judge: 'inbox-once', edit: (draft) => {
    const ends = new Map(draft.kafka.ordersBounds.map((bounds) => [bounds.partition, Number(bounds.endOffset)]));
    const copies = draft.kafka.orders.map((record) => ({ ...record, offset: String(Number(record.offset) + (ends.get(record.partition) ?? 0)) }));
    draft.kafka.orders.push(...copies);
    for (const bounds of draft.kafka.ordersBounds) bounds.endOffset = bounds.committedOffset = String(2 * Number(bounds.endOffset));
  } },
  { odd: 'an Inbox row of another consumer group', judge: 'inbox-once', edit: (draft) => { draft.postgres.inbox.push({ ...nth(draft.postgres.inbox, 0), consumerGroup: 'audit' }); } },
  ...([20, 40, 50, 60] as const).map((status): LegalChange => ({ odd: `a late copy of a reservation that was closed before it came (state ${String(status)})`, judge: 'inbox-once', edit: (draft) => {
    closedBefore(draft, status);
  } })),
  { odd: 'a delayed event that is not due yet', judge: 'outbox-complete', edit: (draft) => {
    draft.postgres.outbox.push({ ...nth(draft.postgres.outbox, 0), eventId: 'close-1', type: 'ORDER_CLOSE_DUE', aggregateId: openOrder(draft).reservationId, status: 0, availableAtUs: draft.run.clock.atEnd.wallUs + 900_000_000 });
  } },
  { odd: 'a sent event whose row retention has moved to the archive', judge: 'outbox-complete', edit: (draft) => { nth(draft.postgres.outbox, 1).archived = true; } },
  { odd: 'an event delivered twice', judge: 'outbox-complete', edit: (draft) => {
    draft.kafka.events.push({ ...nth(draft.kafka.events, 0), offset: '999' });
    const bounds = nth(draft.kafka.eventsBounds, 0);
    bounds.endOffset = bounds.committedOffset = String(Number(bounds.endOffset) + 1);
  } },
  { odd: 'ledger entries in another order', judge: 'ledger-balanced', world: ROW, edit: (draft) => { draft.postgres.ledger.reverse(); } },
  { odd: 'a reservation inserted as ordered by one statement', judge: 'legal-state-path', edit: (draft) => { for (const change of changesOf(draft, 'inventory_reservation')) if (change.row['status'] === '0') change.row['status'] = '10'; } },
  { odd: 'an order made and taken back before the commit, for want of a unit', judge: 'legal-state-path', edit: (draft) => {
    const { changes } = nth(draft.commitLog.transactions, 0);
    const insert = found(changes, (change) => change.table === 'orders');
    changes.push({ ...insert, row: { ...insert.row, order_id: '1' } }, { table: 'orders', kind: 'delete', row: { order_id: '1' } });
  } },
  { odd: 'a refund that was asked for again under the same key', judge: 'money-accounted', world: LIVES, edit: (draft) => {
    draft.channel.refunds.push({ ...nth(draft.channel.refunds, 0), effect: 'repeated' });
  } },
  { odd: 'an unmatched payment that a human has paid back', judge: 'money-accounted', world: LIVES, edit: (draft) => {
    const row = nth(draft.postgres.unmatchedPayments, 0);
    draft.channel.refunds.push({ ...nth(draft.channel.refunds, 0), refundId: 'by-hand', tradeNo: row.tradeNo, amount: row.amount });
    row.status = 20;
  } },
  { odd: 'money of a wrong amount that the channel afterwards called failed', judge: 'money-accounted', world: LIVES, edit: (draft) => {
    const { tradeNo, claimedOrderId } = nth(draft.postgres.unmatchedPayments, 0);
    draft.postgres.payments.push({ ...found(draft.postgres.payments, (row) => row.status === 20), paymentId: 'failed', orderId: claimedOrderId ?? '', tradeNo, status: 30, paidAtUs: null });
  } },
  { odd: 'one trade told of two orders', judge: 'money-accounted', world: LIVES, edit: (draft) => {
    const payment = found(draft.postgres.payments, (row) => row.status === 20);
    draft.postgres.unmatchedPayments.push({ ...nth(draft.postgres.unmatchedPayments, 0), unmatchedId: 'again', tradeNo: payment.tradeNo ?? '', amount: payment.amount, reason: 'TRADE_OF_ANOTHER_ORDER' });
  } },
  { odd: 'a forged message among the dead letters, which no buyer waits for', judge: 'no-lost-reservation', edit: (draft) => {
    const bounds = found(draft.kafka.ordersBounds, ({ partition }) => partition === nth(draft.kafka.orders, 0).partition);
    const forged = { ...nth(draft.kafka.orders, 0), offset: bounds.endOffset, reservationId: 'ffffffff-0000-7000-8000-000000000001', messageId: 'ffffffff-0000-7000-8000-000000000002' };
    bounds.endOffset = bounds.committedOffset = String(Number(bounds.endOffset) + 1);
    const letters = nth(draft.kafka.deadLettersBounds, 0);
    letters.endOffset = letters.committedOffset = '1';
    draft.kafka.orders.push(forged);
    draft.kafka.deadLetters.push({
      partition: 0, offset: '0', appendedAtMs: forged.appendedAtMs, originTopic: draft.run.namespace.ordersTopic, originPartition: forged.partition, originOffset: forged.offset,
      messageId: forged.messageId, reservationId: forged.reservationId, cause: 'REFUSED', attempts: 3,
    });
  } },
  { odd: 'a second reservation of one request, refused without a row', judge: 'no-lost-reservation', edit: secondReservation },
  { odd: 'the Inbox row of a second reservation of one request', judge: 'inbox-once', edit: secondReservation },
  { odd: 'the event of a second reservation of one request', judge: 'outbox-complete', edit: secondReservation },
  { odd: 'a summary row of sku_inventory that stays behind the tokens', judge: 'stock-conservation', edit: (draft) => { Object.assign(nth(draft.postgres.inventory, 0), { available: 3, allocated: 7 }); } },
  { odd: 'a unit lost in a proven failover', judge: 'no-lost-reservation', edit: lostInFailover },
  { odd: 'an answer about a unit lost in a proven failover', judge: 'honest-answers', edit: lostInFailover },
  { odd: 'records and units that agree after a proven loss', judge: 'redis-conservation', world: LIVES, edit: lossProven },
  { odd: 'a lost reservation that no record and no row is left of', judge: 'redis-conservation', edit: lostInFailover },
  { odd: 'units that were given back before a rebuild', judge: 'release-once', world: LIVES, edit: lossProven },
  { odd: 'a winner more than stock, whose unit a proven failover took', judge: 'no-oversell', world: handWrittenFacts(), edit: lostInFailover },
];

describe('odd and legal', () => {
  it.each(LEGAL.map((change) => [change.judge, change.odd, change] as const))('%s accepts %s', (_, __, change) => {
    const verdict = judged(change.judge, edited(change.world ?? TOKEN, change.edit));
    expect(`${verdict.outcome} ${verdict.first?.claim ?? ''}`.trim()).toBe('holds');
  });
});

describe('an excuse', () => {
  const verdictOf = (edit: BrokenWorld['edit']): string => judged('no-lost-reservation', edited(TOKEN, edit)).outcome;

  it('is counted', () => {
    expect(judged('no-lost-reservation', edited(TOKEN, lostInFailover)).excused).toBe(1);
  });

  it('needs the proof that the fault landed', () => {
    expect(verdictOf((draft) => { lostInFailover(draft); nth(draft.faults, 0).proof = 'not-landed'; })).toBe('violated');
  });

  it('ends with its window', () => {
    expect(verdictOf((draft) => { lostInFailover(draft); nth(draft.faults, 0).mayLose = { store: 'redis', fromUs: 1_000_200_000, toUs: 1_000_500_000 }; })).toBe('violated');
  });

  it('does not cover what was told QUEUED', () => {
    expect(verdictOf((draft) => {
      lostInFailover(draft);
      tell(draft, arrivalTold(draft, (code) => code === 'QUEUED_PENDING_MESSAGE'), 'QUEUED', 202);
    })).toBe('violated');
  });

  it('does not cover what reached the topic', () => {
    expect(verdictOf((draft) => {
      lostInFailover(draft);
      draft.kafka.orders.push({ ...nth(draft.kafka.orders, 0), offset: '500', reservationId: 'ffffffff-0000-7000-8000-000000000001', messageId: 'ffffffff-0000-7000-8000-000000000002' });
    })).toBe('violated');
  });
});

describe('no-undersell', () => {
  it('is not judged in a void run', () => {
    const verdict = judged('no-undersell', edited(TOKEN, (draft) => { draft.history.generator.issued = 1; draft.run.stock = 1_000; }));
    expect(verdict.outcome).toBe('not-judged');
  });

  it('leaves out users who heard only 429', () => {
    expect(judged('no-undersell', handWrittenFacts({ stock: 100, limitedShare: 0.5 })).outcome).toBe('holds');
  });

  it('holds a unit that came back early against the system', () => {
    const early = edited(handWrittenFacts({ arrivals: 900 }), (draft) => {
      const { reservationId } = nth(draft.postgres.orders, 0);
      draft.postgres.orders.shift();
      Object.assign(found(draft.postgres.reservations, (row) => row.reservationId === reservationId), { status: 50, orderId: null });
    });
    // Nine seconds of arrivals: what came back in the first one could have been sold again.
    expect(judged('no-undersell', early).outcome).toBe('violated');
  });
});

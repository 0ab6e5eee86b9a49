/** Every figure counts what it says, nothing else, and says that it cannot where the evidence is missing. */
import { describe, expect, it } from 'vitest';

import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../../domain/reason-codes.js';
import { SHOWN_FIGURES, type Facts, type ShownFigure } from '../../facts/facts.js';
import type { FaultRecord } from '../../facts/fault-record.js';
import { wallToMonoUs } from '../../facts/timeline.js';
import { edited, without } from '../edited-facts.test-support.js';
import { handWrittenFacts } from '../hand-written-facts.test-support.js';
import type { EvidenceKind } from '../invariant.js';
import { runFigures } from '../run-figures.js';
import { judgeShown } from './registry.js';

const LIVES = handWrittenFacts({ arrivals: 400, stock: 120, fates: { paid: 0.3, cancelled: 0.2, expired: 0.2 } });
const counted = (facts: Facts, figure: ShownFigure): number | null => judgeShown(facts, { figure, atLeast: 0 }, runFigures(facts, [])).seen;

describe.each(SHOWN_FIGURES)('%s', (figure) => {
  it('is a whole number where the evidence is there', () => {
    expect(counted(LIVES, figure)).toSatisfy((seen: number | null) => Number.isInteger(seen) && (seen ?? -1) >= 0);
  });

  it('is not guessed where all evidence is missing', () => {
    const nothing = (['history', 'redis', 'kafka', 'postgres', 'commitLog', 'faults', 'settle', 'metrics'] satisfies EvidenceKind[]).reduce<Facts>(without, LIVES);
    // A loss that no judge excused was not excused: this figure is the judges' own.
    expect(counted(nothing, figure)).toBe(figure === 'losses-excused' ? 0 : null);
  });
});

describe('payments that meet the end of their order', () => {
  /** The money of the paid and of the timed-out orders comes `offsetUs` from the moment of their end. */
  const meeting = (offsetUs: number): Facts => edited(LIVES, (draft) => {
    draft.history.payerTellings = draft.postgres.orders.flatMap((order) => {
      if (order.paidAtUs === null && order.cancelReason !== 'PAY_TIMEOUT') return [];
      const askedUs = wallToMonoUs(LIVES.run.clock, order.expireAtUs) + offsetUs;
      return [{
        kind: 'payment' as const, act: 'callback' as const, arrival: 0, userId: order.userId, orderId: order.orderId, channelTradeNo: 't', callbackId: 'c', amountMinor: order.totalAmount,
        channelSays: 'SUCCEEDED' as const, askedUs, answeredUs: askedUs + 1, httpStatus: 200, code: order.paidAtUs === null ? 'REFUND_PENDING' as const : 'PAID' as const, reason: null,
      }];
    });
  });
  const orders = LIVES.postgres.present ? LIVES.postgres.value.orders : [];
  const paid = orders.filter((order) => order.paidAtUs !== null).length;
  const timedOut = orders.filter((order) => order.cancelReason === 'PAY_TIMEOUT').length;

  it('are told by who won', () => {
    expect(paid * timedOut).toBeGreaterThan(0);
    for (const offsetUs of [-400_000, 0, 400_000]) {
      const facts = meeting(offsetUs);
      expect([counted(facts, 'races'), counted(facts, 'races-won-by-payment'), counted(facts, 'races-won-by-end')]).toEqual([paid + timedOut, paid, timedOut]);
    }
    expect(counted(LIVES, 'orders-timed-out')).toBe(timedOut);
  });

  it('are none where the money comes a second off, or was no money of the order', () => {
    for (const offsetUs of [-1_000_000, 1_000_000]) expect(counted(meeting(offsetUs), 'races')).toBe(0);
    const unmatched = edited(meeting(0), (draft) => { for (const telling of draft.history.payerTellings) telling.code = 'UNMATCHED'; });
    expect(counted(unmatched, 'races')).toBe(0);
  });
});

describe('admission that closes and opens again', () => {
  const answering = (codes: readonly AnswerCode[], refusedByLayer: number): Facts => edited(handWrittenFacts({ arrivals: codes.length, stock: 100 }), (draft) => {
    codes.forEach((code, index) => { draft.history.columns.answerCode[index] = ANSWER_CODES_BY_NUMBER.indexOf(code); });
    draft.metrics = { 'gateway-1': { 'seckill_gateway_funnel_total{layer="admission-limit",outcome="refused",role="gateway"}': refusedByLayer } };
  });
  const turns = answering(['QUEUED', 'QUEUE_FULL', 'QUEUED', 'QUEUE_FULL', 'QUEUE_FULL', 'QUEUE_FULL', 'LIMITED', 'QUEUED', 'QUEUED', 'QUEUE_FULL'], 4);

  it('is told by the longest row of refusals and by who was let in after it', () => {
    expect([counted(turns, 'turned-away-in-a-row'), counted(turns, 'let-in-again')]).toEqual([3, 2]);
    const open = answering(['QUEUED', 'QUEUED', 'QUEUED'], 0);
    expect([counted(open, 'turned-away-in-a-row'), counted(open, 'let-in-again')]).toEqual([0, 0]);
  });

  it('counts what both the gateway and the clients tell of', () => {
    expect(counted(turns, 'turned-away-by-admission')).toBe(4);
    expect(counted(answering(['QUEUE_FULL', 'QUEUED'], 9), 'turned-away-by-admission')).toBe(1);
  });
});

it('retention, repairs and units sold again are counted by the commit log and the tables', () => {
  const change = (table: string, kind: 'insert' | 'update' | 'delete') => ({ table, kind, row: {} });
  const facts = edited(LIVES, (draft) => {
    draft.commitLog.transactions.push({
      xid: 1, lsn: '0/1', committedAtUs: 1,
      changes: [change('consumer_inbox', 'delete'), change('consumer_inbox', 'delete'), change('payment_callback_archive', 'insert'), change('reconciliation_adjustment', 'insert'), change('reconciliation_adjustment', 'update')],
    });
    draft.postgres.outbox.forEach((row, place) => { row.archived = place < 3; });
    draft.run.stock = 100;
    draft.postgres.orders.forEach((order, place) => { order.purchaseNo = place < 4 ? 2 : 1; });
  });
  expect(counted(facts, 'inbox-rows-trimmed')).toBe(2);
  expect(counted(facts, 'callbacks-archived')).toBe(1);
  expect(counted(facts, 'repairs')).toBe(1);
  expect(counted(facts, 'events-archived')).toBe(3);
  expect(counted(facts, 'second-purchases')).toBe(4);
  expect(counted(facts, 'orders-beyond-stock')).toBe((LIVES.postgres.present ? LIVES.postgres.value.orders.length : 0) - 100);
});

it('orders that were unpaid when everything was killed are those that were made before and ended after', () => {
  const [order] = LIVES.postgres.present ? LIVES.postgres.value.orders.filter(({ paidAtUs, cancelledAtUs }) => (paidAtUs ?? cancelledAtUs) !== null) : [];
  if (order === undefined) throw new Error('the world has no order that ended');
  const killedAt = (wallUs: number): Facts => edited(LIVES, (draft) => {
    draft.postgres.orders = [{ ...order }];
    draft.faults.push({
      id: 'f#1', name: 'restart-everything', options: {}, scheduledUs: 0, injectedUs: wallToMonoUs(LIVES.run.clock, wallUs), healedUs: 0, prediction: '', proof: 'landed', observed: '', healed: true, healObserved: '',
      strikes: 1, strikesAsked: 1, hits: [], mayLose: null,
    });
  });
  const endedUs = order.paidAtUs ?? order.cancelledAtUs ?? 0;
  expect(counted(killedAt(endedUs - 1), 'orders-carried-over')).toBe(1);
  expect(counted(killedAt(endedUs + 1), 'orders-carried-over')).toBe(0);
  expect(counted(killedAt(order.createdAtUs - 1), 'orders-carried-over')).toBe(0);
});

it('what came after an outage is told by who asked when the store was back', () => {
  const codes: readonly AnswerCode[] = ['QUEUED', 'PAUSED', 'PAUSED', 'USER_HAS_ONE', 'QUEUED', 'USER_HAS_ONE', 'QUEUED_PENDING_MESSAGE', 'UNAVAILABLE'];
  const world = handWrittenFacts({ arrivals: codes.length, stock: 100 });
  const sentUs = world.history.present ? world.history.value.columns.sentUs : new Float64Array();
  const facts = edited(world, (draft) => {
    codes.forEach((code, index) => { draft.history.columns.answerCode[index] = ANSWER_CODES_BY_NUMBER.indexOf(code); });
    // The order of the user who asked fourth stood before, that of the sixth was made after it.
    draft.postgres.orders.forEach((order, place) => { order.createdAtUs = world.run.clock.atStart.wallUs + (place === 5 ? 900_000_000 : 0); });
    draft.faults.push({
      id: 'f#1', name: 'redis-failover', options: {}, scheduledUs: 0, injectedUs: 0, healedUs: 1, prediction: '', proof: 'landed', observed: '', healed: true, healObserved: '', strikes: 1, strikesAsked: 1, hits: [],
      mayLose: null, outage: { fromUs: (sentUs[0] ?? 0) + 1, toUs: (sentUs[2] ?? 0) + 1 },
    });
  });
  expect([counted(facts, 'paused-answers'), counted(facts, 'let-in-after-outage'), counted(facts, 'second-orders-refused')]).toEqual([2, 2, 1]);
  expect(counted(edited(facts, (draft) => { draft.faults.pop(); }), 'let-in-after-outage')).toBe(0);
  expect(counted(without(facts, 'faults'), 'let-in-after-outage')).toBe(null);
});

describe('what faults took away', () => {
  const ordersOf = LIVES.postgres.present ? LIVES.postgres.value.orders.length : 0;
  const taking = (change: Partial<Pick<FaultRecord, 'name' | 'proof' | 'injectedUs' | 'outage' | 'unheardMessages'>>): Facts => edited(LIVES, (draft) => {
    draft.faults.push({
      id: 'f#1', name: 'pg-outage', options: {}, scheduledUs: 0, injectedUs: 0, healedUs: 1, prediction: '', proof: 'landed', observed: '', healed: true, healObserved: '', strikes: 1, strikesAsked: 1, hits: [],
      mayLose: null, ...change,
    });
  });
  const committedUs = (LIVES.commitLog.present ? LIVES.commitLog.value.transactions : [])
    .filter(({ changes }) => changes.some(({ table, kind }) => table === 'orders' && kind === 'insert')).map(({ committedAtUs }) => wallToMonoUs(LIVES.run.clock, committedAtUs)).sort((left, right) => left - right);

  it('is told by the orders that were committed after PostgreSQL was seen gone', () => {
    const middleUs = committedUs[Math.floor(committedUs.length / 2)] ?? 0;
    const after = committedUs.filter((us) => us > middleUs).length;
    expect(after).toBeGreaterThan(10);
    expect(counted(taking({ outage: { fromUs: middleUs, toUs: middleUs + 1 } }), 'orders-after-outage')).toBe(after);
    expect(counted(taking({ injectedUs: committedUs.at(-1) ?? 0 }), 'orders-after-outage')).toBe(0);
    expect(counted(taking({ injectedUs: 0 }), 'orders-after-outage')).toBe(ordersOf);
  });

  it('is nothing by a fault that did not land, or by another', () => {
    expect(counted(taking({ proof: 'not-landed' }), 'orders-after-outage')).toBe(0);
    expect(counted(taking({ name: 'redis-down' }), 'orders-after-outage')).toBe(0);
    expect(counted(LIVES, 'orders-after-outage')).toBe(0);
  });

  it('is told by the messages of which nobody heard', () => {
    expect(counted(taking({ name: 'lose-produce-ack', unheardMessages: 437 }), 'messages-unheard')).toBe(437);
    expect(counted(taking({ name: 'lose-produce-ack', unheardMessages: 437, proof: 'not-landed' }), 'messages-unheard')).toBe(0);
    expect(counted(LIVES, 'messages-unheard')).toBe(0);
  });
});

it('people who were told to slow down are counted without the bots, and may be none at all', () => {
  const bots = { noPermit: 0.5, forgedPermit: 0, expiredPermit: 0, replayedPermit: 0, devices: 1 };
  const world = handWrittenFacts({ arrivals: 40, limitedShare: 1, stock: 0 });
  const facts: Facts = { ...world, run: { ...world.run, load: { ...world.run.load, permits: { validForMs: 1_000, bots } } } };
  const people = counted(facts, 'people-limited') ?? 0;
  expect(people).toBeGreaterThan(5);
  expect(people).toBeLessThan(35);
  const judged = (atMost: number) => judgeShown(facts, { figure: 'people-limited', atLeast: 0, atMost }, runFigures(facts, []));
  expect(judged(people)).toMatchObject({ outcome: 'shown', atMost: people, seen: people });
  expect(judged(people - 1).outcome).toBe('not-shown');
});

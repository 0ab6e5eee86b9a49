/** What is missing, incomplete or contradictory is never green, and never a violation either. */
import { describe, expect, it } from 'vitest';
import type { Facts } from '../facts/facts.js';
import { cancelledOrder, changesOf, drop, ELSEWHERE, found, judged, LIVES, nth, openOrder, ROW, TOKEN } from './broken-world.test-support.js';
import { edited, without, type Draft } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';
import { INVARIANTS } from './registry.js';

const NEEDS = INVARIANTS.flatMap((invariant) => invariant.needs.map((kind) => [invariant.name, kind] as const));
const outcomeOf = (name: string, facts: Facts): string => judged(name, facts).outcome;

describe('missing evidence', () => {
  it.each(NEEDS)('%s without %s is unknown', (name, kind) => {
    const verdict = judged(name, without(TOKEN, kind));
    expect(verdict.outcome).toBe('unknown');
    expect(verdict.note).toContain(`${kind} was not harvested`);
  });

  it.each(INVARIANTS.map((invariant) => invariant.name))('%s needs to know that the system stood still', (name) => {
    expect(outcomeOf(name, without(TOKEN, 'settle'))).toBe('unknown');
    expect(outcomeOf(name, edited(TOKEN, (draft) => { draft.settle.quiesced = false; }))).toBe('unknown');
  });

  it.each(INVARIANTS.map((invariant) => invariant.name))('%s is unknown when nothing was answered or nothing accepted', (name) => {
    const silent = edited(TOKEN, (draft) => { draft.history.columns.outcome.fill(3); });
    // A run without an answer is void as well, and void runs are not judged for what they left unsold.
    expect(['unknown', 'not-judged']).toContain(outcomeOf(name, silent));
    expect(outcomeOf(name, handWrittenFacts({ limitedShare: 1 }))).toBe('unknown');
  });

  const INCOMPLETE: readonly (readonly [string, readonly string[], (draft: Draft) => void])[] = [
    ['an incomplete history', INVARIANTS.map((invariant) => invariant.name), (draft) => { draft.history.complete = false; draft.history.problems = ['index 3 twice']; }],
    ['a history of another load', INVARIANTS.map((invariant) => invariant.name), (draft) => { draft.run.load.durationMs += 10; }],
    ['unreadable things in Redis', ['redis-conservation', 'no-lost-reservation', 'honest-answers', 'stable-message-id'], (draft) => { draft.redis.problems.push('field x'); }],
    ['a record of the orders topic that is no message', ['inbox-once', 'no-lost-reservation'], (draft) => {
      draft.kafka.malformed.push({ topic: 'hand.orders', partition: 0, offset: '9', problem: 'not JSON' });
    }],
    ['an orders topic without partitions', ['inbox-once'], (draft) => { draft.kafka.ordersBounds = []; }],
    ['a topic that has lost its beginning', ['stable-message-id', 'no-phantom-order'], (draft) => {
      for (const bounds of draft.kafka.ordersBounds) bounds.beginOffset = '1';
      draft.kafka.orders = draft.kafka.orders.filter((record) => record.offset !== '0');
    }],
    ['an events topic that has lost its beginning', ['outbox-complete'], (draft) => { nth(draft.kafka.eventsBounds, 0).beginOffset = '1'; draft.kafka.events.splice(0, 1); }],
    ['a group that never committed', ['inbox-once'], (draft) => { nth(draft.kafka.ordersBounds, 0).committedOffset = null; }],
    ['a commit log out of order', ['no-oversell', 'stock-conservation', 'legal-state-path', 'one-order-per-user', 'honest-answers'], (draft) => { draft.commitLog.transactions.push({ ...nth(draft.commitLog.transactions, 0), changes: [] }); }],
    ['a commit log in milliseconds', ['no-oversell', 'honest-answers'], (draft) => { for (const transaction of draft.commitLog.transactions) transaction.committedAtUs /= 1000; }],
    ['a log that lacks a commit the snapshot shows', ['no-oversell', 'one-order-per-user', 'honest-answers'], (draft) => {
      // The last order that was neither paid nor cancelled: its commit is the only one that speaks of it.
      const order = draft.postgres.orders.findLast((row) => row.status === 10);
      drop(draft.commitLog.transactions, found(draft.commitLog.transactions, (transaction) => transaction.changes.some((change) => change.row['order_id'] === order?.orderId)));
    }],
    ['a log that knows an order the snapshot lacks', ['no-oversell', 'one-order-per-user'], (draft) => { drop(draft.postgres.orders, openOrder(draft)); }],
    ['a log that begins in the middle of a life', ['legal-state-path'], (draft) => {
      const { orderId } = cancelledOrder(draft);
      const transaction = found(draft.commitLog.transactions, (candidate) => candidate.changes.some((change) => change.table === 'orders' && change.row['order_id'] === orderId));
      drop(draft.commitLog.transactions, transaction);
    }],
  ];
  it.each(INCOMPLETE.flatMap(([what, names, edit]) => names.map((name) => [what, name, edit] as const)))('%s leaves %s unknown', (_, name, edit) => {
    expect(outcomeOf(name, edited(TOKEN, edit))).toBe('unknown');
  });
});

describe('not drained', () => {
  const undrained = (edit: (draft: Draft) => void): Facts => edited(TOKEN, (draft) => {
    draft.settle.drainedUs = null;
    draft.settle.open = ['consumer lag 1'];
    edit(draft);
  });

  it('redis-conservation cannot compare', () => {
    expect(outcomeOf('redis-conservation', undrained((draft) => { draft.redis.stock = 3; }))).toBe('unknown');
  });

  it('a message that still waits for the consumer is not lost', () => {
    expect(outcomeOf('no-lost-reservation', undrained((draft) => {
      const bounds = nth(draft.kafka.ordersBounds, 0);
      draft.kafka.orders.push({ ...nth(draft.kafka.orders, 0), partition: 0, offset: bounds.endOffset, messageId: ELSEWHERE, reservationId: ELSEWHERE });
      bounds.endOffset = String(Number(bounds.endOffset) + 1);
    }))).toBe('unknown');
  });

  it('a dead letter that nobody has read yet is not open for good', () => {
    expect(outcomeOf('no-lost-reservation', undrained((draft) => {
      const { reservationId, requestId } = openOrder(draft);
      const record = found(draft.kafka.orders, (message) => message.reservationId === reservationId);
      draft.postgres.orders = draft.postgres.orders.filter((row) => row.reservationId !== reservationId);
      draft.postgres.reservations = draft.postgres.reservations.filter((row) => row.requestId !== requestId);
      draft.postgres.inbox = draft.postgres.inbox.filter((row) => row.reservationId !== reservationId);
      draft.kafka.deadLetters.push({
        partition: 0, offset: '0', appendedAtMs: record.appendedAtMs, originTopic: draft.run.namespace.ordersTopic, originPartition: record.partition, originOffset: record.offset,
        messageId: record.messageId, reservationId, cause: 'REFUSED', attempts: 3,
      });
      Object.assign(nth(draft.kafka.deadLettersBounds, 0), { endOffset: '1', committedOffset: '0' });
    }))).toBe('unknown');
  });

  it('a refund that somebody is at work on is not lost yet, and money that may still be asked for neither', () => {
    const open = (edit: (draft: Draft) => void): string => outcomeOf('money-accounted', edited(LIVES, (draft) => {
      draft.settle.drainedUs = null;
      edit(draft);
    }));
    expect(open((draft) => {
      const payment = found(draft.postgres.payments, (row) => row.status === 50);
      payment.status = 40;
      for (const task of draft.postgres.compensations) if (task.idempotencyKey.includes(payment.paymentId)) task.status = 30;
    })).toBe('unknown');
    expect(open((draft) => {
      const payment = found(draft.postgres.payments, (row) => row.status === 20);
      draft.history.payerTellings = draft.history.payerTellings.filter((told) => told.channelTradeNo !== payment.tradeNo);
      Object.assign(payment, { status: 10, tradeNo: null, callbackId: null });
    })).toBe('unknown');
  });

  it('money that the channel took and could tell nobody of leaves money-accounted unknown', () => {
    expect(outcomeOf('money-accounted', edited(LIVES, (draft) => {
      draft.channel.charges.push({ ...nth(draft.channel.charges, 0), tradeNo: 't-unheard', paymentId: null });
    }))).toBe('unknown');
  });

  it('an event that is still unsent is not missing, a DEAD one is', () => {
    expect(outcomeOf('outbox-complete', undrained((draft) => { nth(draft.postgres.outbox, 0).status = 30; }))).toBe('unknown');
    expect(outcomeOf('outbox-complete', undrained((draft) => { nth(draft.postgres.outbox, 0).status = 40; }))).toBe('violated');
  });

  it('no-undersell waits for the orders', () => {
    expect(outcomeOf('no-undersell', undrained((draft) => { draft.run.stock = 1_000; draft.postgres.orders.pop(); }))).toBe('unknown');
  });
});

describe('a violation is a violation whatever else is missing', () => {
  it('in an incomplete history', () => {
    const facts = edited(TOKEN, (draft) => { draft.history.complete = false; nth(draft.postgres.orders, 1).userId = nth(draft.postgres.orders, 0).userId; });
    expect(outcomeOf('one-order-per-user', facts)).toBe('violated');
  });

  it('without a commit log, when the end alone shows it', () => {
    const facts = without(edited(ROW, (draft) => { draft.run.stock = 3; }), 'commitLog');
    expect(outcomeOf('no-oversell', facts)).toBe('violated');
  });

  it('without a snapshot, when a commit shows it', () => {
    const facts = without(edited(TOKEN, (draft) => { nth(changesOf(draft, 'orders'), 0).row['status'] = '30'; }), 'postgres');
    expect(outcomeOf('legal-state-path', facts)).toBe('violated');
  });

  it('but not between two stores that were read while the system moved', () => {
    const facts = edited(TOKEN, (draft) => { draft.settle.quiesced = false; draft.redis.stock = 5; });
    const verdict = judged('redis-conservation', facts);
    expect(verdict.outcome).toBe('unknown');
    expect(verdict.violations).toBe(1);
  });
});

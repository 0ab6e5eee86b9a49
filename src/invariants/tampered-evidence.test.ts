/**
 * No single row of the evidence can vanish, come twice or change its owner without somebody noticing: the run is then violated or unknown, never
 * green. What is delivered twice has two offsets, and so is no row that came twice.
 */
import { describe, expect, it } from 'vitest';
import type { Facts } from '../facts/facts.js';
import { found, LIVES, nth, REFUSED, ROW, TOKEN, WITHDRAWN, WITHDRAWN_ROW } from './broken-world.test-support.js';
import { edited, type Draft } from './edited-facts.test-support.js';
import { INVARIANTS } from './registry.js';

type Rows = (draft: Draft) => unknown[];

const TABLES: Readonly<Record<string, Rows>> = {
  'orders': (draft) => draft.postgres.orders,
  'reservations': (draft) => draft.postgres.reservations,
  'ledger entries': (draft) => draft.postgres.ledger,
  'Inbox rows': (draft) => draft.postgres.inbox,
  'events of the topic': (draft) => draft.kafka.events,
  'messages of the topic': (draft) => draft.kafka.orders,
  'records of Redis': (draft) => draft.redis.records,
  'marks of users in Redis': (draft) => draft.redis.users,
  'timers of the topic': (draft) => draft.kafka.closes,
  'payments': (draft) => draft.postgres.payments,
  'money that the channel took': (draft) => draft.channel.charges,
  'money that the channel paid back': (draft) => draft.channel.refunds,
  'unmatched payments': (draft) => draft.postgres.unmatchedPayments,
  'dead letters of the topic': (draft) => draft.kafka.deadLetters,
  'dead letters of the table': (draft) => draft.postgres.deadLetters,
  'events of the Outbox': (draft) => draft.postgres.outbox,
  'commits': (draft) => draft.commitLog.transactions,
};
const WORLDS: readonly (readonly [string, Facts])[] = [['token', TOKEN], ['row', ROW], ['refusals', REFUSED], ['all lives', LIVES], ['withdrawn tokens', WITHDRAWN], ['withdrawn row stock', WITHDRAWN_ROW]];

function isGreen(facts: Facts): boolean {
  return INVARIANTS.every((invariant) => invariant.judge(facts).outcome === 'holds');
}

function unnoticed(facts: Facts, rows: Rows, tamper: (items: unknown[], index: number) => void): string[] {
  const missed: string[] = [];
  let count = Infinity;
  for (let index = 0; index < count; index += 1) {
    const tampered = edited(facts, (draft) => {
      const items = rows(draft);
      count = items.length;
      if (count > 0) tamper(items, index);
    });
    if (count > 0 && isGreen(tampered)) missed.push(`row ${String(index)} of ${String(count)}`);
  }
  return missed;
}

// Each case judges a whole world once per row.
describe.each(WORLDS)('tampered evidence of the world with %s', { timeout: 30_000 }, (_, world) => {
  it.each(Object.entries(TABLES))('a row of the %s cannot vanish', (__, rows) => {
    expect(unnoticed(world, rows, (items, index) => { items.splice(index, 1); })).toEqual([]);
  });

  it.each(Object.entries(TABLES))('a row of the %s cannot come twice', (__, rows) => {
    expect(unnoticed(world, rows, (items, index) => { items.splice(index, 0, structuredClone(items[index])); })).toEqual([]);
  });

  it.each(['reservationId', 'requestId', 'userId', 'orderId', 'messageId', 'sourceMessageId', 'firstMessageId', 'status', 'inventoryTokenId', 'resultCode', 'state', 'unitReturned', 'purchaseNo', 'tradeNo', 'amount', 'currency', 'refundId', 'effect', 'returnsUnit', 'originOffset'])('two rows cannot exchange their %s', (field) => {
    const missed: string[] = [];
    for (const [name, rows] of Object.entries(TABLES)) {
      const tampered = edited(world, (draft) => {
        const items = rows(draft) as Record<string, unknown>[];
        const first = items[0];
        const second = first === undefined || !(field in first) ? undefined : items.find((item) => item[field] !== first[field]);
        if (first !== undefined && second !== undefined) [first[field], second[field]] = [second[field], first[field]];
      });
      const changed = textOf(tampered, rows) !== textOf(world, rows);
      if (changed && isGreen(tampered)) missed.push(name);
    }
    expect(missed).toEqual([]);
  });
});

/** The rows of a world as text, read through the same accessor that edits them. */
function textOf(facts: Facts, rows: Rows): string {
  let text = '';
  edited(facts, (draft) => { text = JSON.stringify(rows(draft)); });
  return text;
}

describe('tampered copies', () => {
  it.each([['orderId', '1'], ['type', 'ORDER_PAID'], ['reservationId', 'elsewhere'], ['returnsUnit', true], ['aggregateVersion', 9]] as const)('an event delivered again with another %s is noticed', (field, value) => {
    const again = (change: Record<string, unknown>): Facts => edited(TOKEN, (draft) => {
      const bounds = nth(draft.kafka.eventsBounds, 0);
      draft.kafka.events.push({ ...nth(draft.kafka.events, 0), offset: bounds.endOffset, ...change });
      bounds.endOffset = bounds.committedOffset = String(Number(bounds.endOffset) + 1);
    });
    expect(isGreen(again({}))).toBe(true);
    expect(isGreen(again({ [field]: value }))).toBe(false);
  });
});

describe('tampered answers', () => {
  it('an answer moved to another client is noticed', () => {
    const swapped = edited(TOKEN, (draft) => {
      const { columns } = draft.history;
      const winners = Array.from(columns.httpStatus.keys()).filter((index) => columns.httpStatus[index] === 202);
      const [first, second] = [nth(winners, 0), nth(winners, 1)];
      const bytes = columns.reservation.slice(first * 16, first * 16 + 16);
      columns.reservation.copyWithin(first * 16, second * 16, second * 16 + 16);
      columns.reservation.set(bytes, second * 16);
    });
    expect(isGreen(swapped)).toBe(false);
  });

  it('a token moved to another reservation is noticed', () => {
    const swapped = edited(TOKEN, (draft) => {
      const taken = draft.postgres.tokens.filter((token) => token.status === 10);
      [nth(taken, 0).reservationId, nth(taken, 1).reservationId] = [nth(taken, 1).reservationId, nth(taken, 0).reservationId];
    });
    expect(isGreen(swapped)).toBe(false);
    expect(found(INVARIANTS, (invariant) => invariant.name === 'stock-conservation').judge(swapped).outcome).toBe('violated');
  });
});

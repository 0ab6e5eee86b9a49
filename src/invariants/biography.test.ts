/** The story of a witness: whole, in order of time, and short enough to be read. */
import { describe, expect, it } from 'vitest';
import { biographyOf } from './biography.js';
import { found, openOrder, TOKEN } from './broken-world.test-support.js';
import { edited } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';
import { noLostReservation } from './no-lost-reservation.js';

describe('a biography', () => {
  const faulty = edited(TOKEN, (draft) => {
    const order = openOrder(draft);
    draft.postgres.orders = draft.postgres.orders.filter((candidate) => candidate !== order);
    draft.faults.push({
      id: 'kill-role#1', name: 'kill-role', options: {}, scheduledUs: 1_000_000_000, injectedUs: 1_000_000_000, healedUs: 1_000_001_000, prediction: '', proof: 'landed',
      observed: 'exit by SIGKILL', healed: true, healObserved: 'healthy again', strikes: 1, strikesAsked: 1, hits: [], mayLose: null,
    });
  });

  it('follows a lost reservation through all stores, in order of time, with the fault of its moment', () => {
    const gone = TOKEN.postgres.present ? found(TOKEN.postgres.value.orders, (order) => order.status === 10) : null;
    const witness = noLostReservation.judge(faulty).first;
    expect(witness?.id).toBe(gone?.reservationId);
    const lines = witness?.biography ?? [];
    expect([...new Set(lines.map((line) => line.source))].sort()).toEqual(['client', 'commit-log', 'fault', 'kafka', 'postgres', 'redis']);
    const times = lines.flatMap((line) => line.at ?? []);
    expect(times).toEqual([...times].sort());
    const told = lines.map((line) => line.text).join('\n');
    for (const part of ['told 202 QUEUED', 'orders topic', 'Inbox: message', 'reservation row: ORDERED (10)', 'ledger ALLOCATE', 'Outbox: ORDER_CREATED', 'kill-role#1']) expect(told).toContain(part);
  });

  it('knows a thing by any of its names', () => {
    const order = TOKEN.postgres.present ? found(TOKEN.postgres.value.orders, (candidate) => candidate.status === 10) : null;
    const { reservationId = '', requestId = '', orderId = '', sourceMessageId: messageId = '' } = order ?? {};
    const whole = biographyOf(TOKEN, { reservationId });
    for (const subject of [{ requestId }, { orderId }, { messageId }]) expect(biographyOf(TOKEN, subject)).toEqual(whole);
  });

  it('is cut where one user has hundreds of requests', () => {
    const storm = handWrittenFacts({ arrivals: 300, mix: { distinctUsers: 1 } });
    const userId = storm.postgres.present ? (storm.postgres.value.orders[0]?.userId ?? '') : '';
    const lines = biographyOf(storm, { userId });
    expect(lines.length).toBeLessThanOrEqual(62);
  });

  it('is empty for a stranger', () => {
    expect(biographyOf(TOKEN, { reservationId: 'nobody' })).toEqual([]);
  });
});

/** Who is let in while a store is away or the queue is old, and who is not: judged from the times alone. */
import { describe, expect, it } from 'vitest';
import type { InvariantVerdict } from '../facts/verdict.js';
import { found, judged, moveCommit, nth, tell } from './broken-world.test-support.js';
import { edited, type Draft } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';

const START_US = 1_000_000_000;
/** A hundred arrivals in one second, the first thirty of which are let in. */
const WORLD = handWrittenFacts({ arrivals: 100, stock: 30 });

type Fault = Draft['faults'][number];

function outage(draft: Draft, change: Partial<Fault>): void {
  draft.faults.push({
    id: 'redis-down#1', name: 'redis-down', options: { s: '30s' }, scheduledUs: START_US, injectedUs: START_US, healedUs: START_US + 600_000, prediction: '', proof: 'landed',
    observed: '', healed: true, healObserved: '', strikes: 1, strikesAsked: 1, hits: [], mayLose: null, ...change,
  });
}

const FAILOVER: Partial<Fault> = { id: 'redis-failover#1', name: 'redis-failover', options: {} };

function failClosed(edit: (draft: Draft) => void): InvariantVerdict {
  return judged('fail-closed', edited(WORLD, (draft) => {
    draft.run.failClosed = { inFlightBoundMs: 50, breakerOpensWithinMs: 100 };
    edit(draft);
  }));
}

describe('fail-closed', () => {
  it('holds where nothing was away', () => {
    expect(failClosed(() => undefined)).toMatchObject({ outcome: 'holds', note: '0 checked; nothing took a guard away' });
  });

  it('catches who was let in while Redis was away', () => {
    const verdict = failClosed((draft) => { outage(draft, {}); });
    expect(verdict).toMatchObject({ outcome: 'violated' });
    expect(verdict.first?.claim).toMatch(/after redis-down#1 took redis away and was accepted \(QUEUED\)/);
    // Thirty were let in during the outage, those of the first 50 ms (and the bound of the clock) were under way.
    expect(verdict.violations).toBe(24);
  });

  it.each<[string, (draft: Draft) => void]>([
    ['who was under way when the store went', (draft) => { draft.run.failClosed.inFlightBoundMs = 400; outage(draft, {}); }],
    ['an outage that is not proven', (draft) => { outage(draft, { proof: 'not-landed' }); }],
    ['an outage of another role', (draft) => { outage(draft, { options: { role: 'scanner', s: '30s' } }); }],
    ['a broker away and no breaker', (draft) => { draft.run.failClosed.breakerOpensWithinMs = null; outage(draft, { name: 'broker-outage' }); }],
    ['who was reserved before and heard of it only then', (draft) => {
      outage(draft, { injectedUs: START_US + 700_000, healedUs: START_US + 5_000_000 });
      // The first answer was lost, the repeat was answered from memory.
      draft.history.columns.sentUs[0] = START_US + 900_000;
      draft.history.columns.answeredUs[0] = START_US + 905_000;
    }],
    ['who was let in before and after it', (draft) => { outage(draft, { outage: { fromUs: START_US + 400_000, toUs: START_US + 900_000 } }); }],
  ])('excuses %s', (_, edit) => {
    expect(failClosed(edit).outcome).toBe('holds');
  });

  it.each<[string, Partial<Fault>]>([
    ['that was over before a call under way had to be', { options: { s: '40ms' } }],
    ['in which somebody asked and was answered after it only', { injectedUs: START_US - 600_000, healedUs: START_US + 1_000 }],
    ['that nobody saw the end of', { id: 'redis-failover#1', name: 'redis-failover', mayLose: { store: 'redis', fromUs: START_US, toUs: START_US + 600_000 } }],
    ['in which nobody asked', { outage: { fromUs: START_US + 2_000_000, toUs: START_US + 3_000_000 } }],
  ])('has seen nothing of an outage %s', (_, change) => {
    const verdict = failClosed((draft) => { outage(draft, change); });
    expect(verdict).toMatchObject({ outcome: 'unknown', checked: 0 });
    expect(verdict.note).toMatch(/^nobody asked and was answered while the door had to be shut because of redis-/);
  });

  it('counts who could have been let in, and nobody else', () => {
    // Arrivals at 460 to 890 ms: those of the first 50 ms (and the bound of the clock) do not count, nor who was answered after it.
    expect(failClosed((draft) => { outage(draft, { outage: { fromUs: START_US + 400_000, toUs: START_US + 900_000 } }); })).toMatchObject({ outcome: 'holds', checked: 44 });
  });

  it.each<[string, readonly number[], number]>([
    ['knows of it', [60_000], 24],
    ['is not told of it', [], 0],
    // Which of the two gateways it was nobody knows, and by the other's clock it was before the outage.
    ['knows that another one is right', [60_000, 0], 0],
  ])('a gateway whose clock is a minute ahead: who judges %s', (_, ahead, violations) => {
    const verdict = failClosed((draft) => {
      outage(draft, {});
      for (const record of [...draft.redis.records, ...draft.kafka.orders]) record.reservedAtMs += 60_000;
      draft.run.clockSkews = ahead.map((aheadMs, index) => ({ instance: `gateway-${index + 1}` as const, aheadMs }));
    });
    expect(verdict.violations).toBe(violations);
  });

  it('counts from when the store was seen gone, and not from when somebody began to take it away', () => {
    const seen = (fromUs: number): string => failClosed((draft) => { outage(draft, { outage: { fromUs, toUs: START_US + 600_000 } }); }).outcome;
    expect([seen(START_US), seen(START_US + 300_000)]).toEqual(['violated', 'holds']);
    expect(seen(START_US + 590_000)).toBe('unknown');
  });

  it('catches who was let in while the breaker should have been open', () => {
    expect(failClosed((draft) => { outage(draft, { id: 'broker-outage#1', name: 'broker-outage' }); }).first?.claim).toMatch(/broker-outage#1 took kafka away/);
  });

  it('catches a reservation made without the broker that no client heard of', () => {
    const verdict = failClosed((draft) => {
      outage(draft, { id: 'broker-outage#1', name: 'broker-outage' });
      const heard = draft.history.columns.outcome;
      for (let index = 0; index < 30; index += 1) if (index > 0) heard[index] = 3;
      draft.history.tellings = [];
    });
    expect(verdict.first?.claim).toMatch(/^Reservation .* was made .* after broker-outage#1 took the broker away/);
  });

  it('takes a failover as an outage from the death of its primary on', () => {
    const died = (atUs: number): InvariantVerdict => failClosed((draft) => { outage(draft, { ...FAILOVER, mayLose: { store: 'redis', fromUs: START_US, toUs: atUs } }); });
    expect(died(START_US + 50_000).outcome).toBe('violated');
    expect(died(START_US + 350_000).outcome).toBe('holds');
  });

  /** The primary died before the sale, the replica was promoted at once, and rebuilt at this time. */
  const rebuiltAt = (toUs: number, edit: (draft: Draft) => void = () => undefined): InvariantVerdict => failClosed((draft) => {
    outage(draft, { ...FAILOVER, healedUs: START_US - 80_000, outage: { fromUs: START_US - 100_000, toUs } });
    edit(draft);
  });
  const unheard = (draft: Draft): void => {
    draft.history.columns.outcome.fill(3, 0, 30);
    draft.history.columns.outcome[99] = 2;
    tell(draft, 99, 'QUEUED', 202, nth(draft.kafka.orders, 0).reservationId);
    draft.history.tellings = [];
  };

  it('keeps the door shut after a failover until the promoted Redis was rebuilt, and not only until it answers', () => {
    const verdict = rebuiltAt(START_US + 500_000);
    expect(verdict).toMatchObject({ outcome: 'violated', violations: 30 });
    expect(verdict.first?.claim).toMatch(/after redis-failover#1 took redis away and was accepted/);
  });

  it('catches what was reserved on the promoted Redis without a client hearing of it, but for the last moments before it was rebuilt', () => {
    const verdict = rebuiltAt(START_US + 200_000, unheard);
    expect(verdict.first?.claim).toMatch(/^Reservation .* was made .* after redis-failover#1 took Redis away/);
    expect(verdict.violations).toBe(15);
  });

  it('catches a reservation without the broker whose client heard of it only after the heal', () => {
    const late = (draft: Draft): void => {
      outage(draft, { id: 'broker-outage#1', name: 'broker-outage' });
      for (let index = 0; index < 30; index += 1) draft.history.columns.answeredUs[index] = START_US + 5_000_000;
    };
    expect(failClosed(late)).toMatchObject({ outcome: 'violated' });
    expect(failClosed(late).first?.claim).toMatch(/^Reservation /);
  });
});

describe('admission-bounded', () => {
  /** The message of the first reservation is worked off so late; all others as they were. */
  const lateFirst = (byUs: number, edit: (draft: Draft) => void = () => undefined): InvariantVerdict => judged('admission-bounded', edited(WORLD, (draft) => {
    const { messageId } = nth(draft.kafka.orders, 0);
    const transaction = found(draft.commitLog.transactions, (candidate) => candidate.changes.some((change) => change.table === 'consumer_inbox' && change.row['message_id'] === messageId));
    moveCommit(draft, transaction, byUs);
    draft.run.admission = { maxOldestAgeMs: 100, controlPeriodMs: 50 };
    edit(draft);
  }));

  it('holds while messages are young', () => {
    expect(lateFirst(0)).toMatchObject({ outcome: 'holds' });
    expect(lateFirst(100_000).outcome).toBe('holds');
  });

  it('catches who was let in behind an old message', () => {
    const verdict = lateFirst(10_000_000);
    expect(verdict.outcome).toBe('violated');
    expect(verdict.first?.claim).toMatch(/had waited for \d+ ms; admission closes at 100 ms and has 50 ms to notice/);
    // Let in at 0, 10, … 290 ms: those from 160 ms on were too late.
    expect(verdict.violations).toBe(14);
    expect(verdict.worst?.claim).not.toBe(verdict.first?.claim);
  });

  it('takes a message that was never worked off for one that waits', () => {
    expect(lateFirst(0, (draft) => {
      const first = nth(draft.kafka.orders, 0);
      draft.kafka.orders.push({ ...first, offset: '900', messageId: 'ffffffff-0000-7000-8000-000000000001' });
    }).outcome).toBe('violated');
  });

  it('does not count the wait of a message after it was given up on', () => {
    expect(lateFirst(0, (draft) => {
      const first = nth(draft.kafka.orders, 0);
      draft.kafka.orders.push({ ...first, offset: '900', messageId: 'ffffffff-0000-7000-8000-000000000001' });
      draft.kafka.deadLetters.push({
        partition: 0, offset: '0', appendedAtMs: first.appendedAtMs + 20, originTopic: draft.run.namespace.ordersTopic, originPartition: first.partition, originOffset: '900',
        messageId: null, reservationId: null, cause: 'REFUSED', attempts: 1,
      });
      nth(draft.kafka.ordersBounds, 0).endOffset = String(Number(nth(draft.kafka.ordersBounds, 0).endOffset) + 1);
      draft.kafka.deadLettersBounds = [{ partition: 0, beginOffset: '0', endOffset: '1', committedOffset: '1' }];
    }).outcome).toBe('holds');
  });

  it('has nothing to say where admission is not bound by age', () => {
    expect(lateFirst(10_000_000, (draft) => { draft.run.admission = null; })).toMatchObject({ outcome: 'holds', checked: 0 });
  });
});

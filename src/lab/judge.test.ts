/** The merge: which outcome and exit code a run gets from all that was judged, and what no run may be green without. */
import { describe, expect, it } from 'vitest';
import { ExitCode, EXIT_CODE_PRECEDENCE, firstThatApplies } from '../exit-codes.js';
import type { Facts } from '../facts/facts.js';
import type { RunVerdict } from '../facts/verdict.js';
import { edited, without, type Draft } from '../invariants/edited-facts.test-support.js';
import { handWrittenFacts } from '../invariants/hand-written-facts.test-support.js';
import { noOversell } from '../invariants/no-oversell.js';
import { INVARIANTS, invariantNamed } from '../invariants/registry.js';
import { SAFETY_INVARIANTS } from '../scenarios/scenario.js';
import { judgeFacts } from './judge.js';

const CLEAN = handWrittenFacts({ mix: { repeatShare: 0.2 }, duplicateShare: 0.3 });
const RUN = { id: 'run-1', startedAt: '2025-06-15T15:06:40.000Z', directory: '/reports/run-1' };
const judge = (facts: Facts): RunVerdict => judgeFacts(facts, RUN);
const after = (edit: (draft: Draft) => void): RunVerdict => judge(edited(CLEAN, edit));

const violate = (draft: Draft): void => { draft.postgres.orders.pop(); };
const doubt = (draft: Draft): void => { draft.redis.problems.push('field x'); };
const makeVoid = (draft: Draft): void => { draft.history.generator.issued = 1; };
const miss = (draft: Draft): void => { draft.run.serviceLevels.push({ name: 'drained', bound: 1 }); };
const fault = (draft: Draft, change: Partial<Draft['faults'][number]>): void => {
  draft.faults.push({
    id: 'kill#1', name: 'kill', options: {}, scheduledUs: 1, injectedUs: 1, healedUs: 2, prediction: 'exit by SIGKILL', proof: 'landed', observed: 'SIGKILL', healed: true,
    healObserved: 'healthy', strikes: 2, strikesAsked: 2, hits: [], mayLose: null, ...change,
  });
};

describe('the verdict of a run', () => {
  it('is green when all hold, with its figures', () => {
    const verdict = judge(CLEAN);
    expect(verdict).toMatchObject({ outcome: 'green', exitCode: 0, run: { id: 'run-1', scenario: 'hand-written', seed: 1 } });
    expect(verdict.headline).toBe(`All ${String(INVARIANTS.length)} invariants hold: 10 orders of a stock of 10 from 40 answered arrivals.`);
    expect(verdict.figures).toMatchObject({ stock: 10, offered: 40, issued: 40, decided: 40, accepted: 10, orders: 10, recoveryMs: 1_000 });
    const { topicMessages, topicDuplicates, latencyFromIntended, winnersLatency, reservationToOrder } = verdict.figures;
    expect((topicMessages ?? 0) - (topicDuplicates ?? 0)).toBe(10);
    expect(topicDuplicates).toBeGreaterThan(0);
    expect(latencyFromIntended).toMatchObject({ count: 40 });
    expect(winnersLatency).toMatchObject({ count: 10 });
    expect(reservationToOrder?.count).toBe(10);
  });

  it.each([0, 1])('is never green over a log that was truncated (C21), also when the scanner has made good what was lost: partition %i', (partition) => {
    // What was read and worked off before the cut is gone from the topic, and all orders are there.
    const verdict = after((draft) => {
      for (const bounds of draft.kafka.ordersBounds) if (bounds.partition === partition) bounds.beginOffset = bounds.committedOffset ?? bounds.beginOffset;
      draft.kafka.orders = draft.kafka.orders.filter((record) => record.partition !== partition);
    });
    expect(verdict).toMatchObject({ outcome: 'unknown', exitCode: 2 });
    expect(verdict.invariants.find((judged) => judged.name === 'no-phantom-order')).toMatchObject({ outcome: 'unknown' });
  });

  it('is violated where messages were truncated unread and nobody made it good (C21)', () => {
    const verdict = after((draft) => {
      const bounds = draft.kafka.ordersBounds.find((each) => each.partition === 0);
      const lost = draft.kafka.orders.filter((record) => record.partition === 0).at(-1)?.reservationId ?? '';
      if (bounds === undefined || lost === '') throw new Error('a message in partition 0');
      bounds.beginOffset = bounds.endOffset;
      draft.kafka.orders = draft.kafka.orders.filter((record) => record.partition !== 0);
      for (const table of ['orders', 'reservations', 'inbox', 'ledger'] as const) {
        const rows = draft.postgres[table] as { readonly reservationId: string }[];
        rows.splice(0, rows.length, ...rows.filter((row) => row.reservationId !== lost));
      }
    });
    expect(verdict).toMatchObject({ outcome: 'violated', exitCode: 1 });
    expect(verdict.invariants.find((judged) => judged.name === 'no-lost-reservation')).toMatchObject({ outcome: 'violated' });
  });

  it('survives being written down: the same facts from JSON give the same verdict', () => {
    expect(judge(structuredClone(CLEAN))).toEqual(judge(CLEAN));
  });

  it.each([
    ['violated', 1, [violate, doubt, makeVoid, miss]],
    ['unknown', 2, [doubt, makeVoid, miss]],
    ['void', 3, [makeVoid, miss]],
    ['service-level-missed', 99, [miss]],
  ] as const)('%s (exit %i) comes before what is less', (outcome, exitCode, edits) => {
    expect(after((draft) => { for (const edit of edits) edit(draft); })).toMatchObject({ outcome, exitCode });
  });

  it('names the violated invariant and its witness in the headline, and no figure of speed', () => {
    const verdict = after(violate);
    expect(verdict.headline).toMatch(/violated: .*[0-9a-f-]{36}/);
    expect(verdict.headline).not.toMatch(/ms|per second|arrivals/);
    expect(verdict.invariants.find((judged) => judged.name === 'no-lost-reservation')).toMatchObject({ outcome: 'violated' });
  });

  it('promises nothing in a void run', () => {
    const verdict = after(makeVoid);
    expect(verdict.serviceLevels.every((judged) => judged.outcome === 'not-judged')).toBe(true);
    expect(verdict.invariants.find((judged) => judged.name === 'no-undersell')?.outcome).toBe('not-judged');
  });

  it('is void when the load went out later than it allows, though nobody promises a latency', () => {
    const late = (latenessBoundMs: number | null) => (draft: Draft): void => {
      draft.run.serviceLevels = [];
      if (latenessBoundMs !== null) Object.assign(draft.run.load, { latenessBoundMs });
      draft.history.generator.latenessP99Us = 4_300_000;
    };
    expect(after(late(null)).outcome).toBe('green');
    expect(after(late(25))).toMatchObject({ outcome: 'void', exitCode: 3 });
    expect(after(late(25)).invariants.find((judged) => judged.name === 'no-undersell')?.outcome).toBe('not-judged');
  });

  it.each([['violated', violate], ['unknown', doubt]] as const)('keeps no promise about speed when it is %s, and tells none', (outcome, edit) => {
    const verdict = after((draft) => { edit(draft); miss(draft); });
    expect(verdict.outcome).toBe(outcome);
    expect(verdict.serviceLevels.map((level) => level.outcome)).toEqual(['not-judged', 'not-judged', 'not-judged', 'not-judged', 'missed']);
    expect(verdict.serviceLevels.map((level) => level.measured)).toEqual([null, null, null, null, null]);
  });

  it('counts those who never heard as slower than all others, among all and among the winners', () => {
    const silent = judge(edited(handWrittenFacts({ arrivals: 200, stock: 50 }), (draft) => {
      const { columns, tellings } = draft.history;
      columns.outcome.fill(3, 0, 10);
      draft.history.tellings = tellings.filter((telling) => telling.arrival !== 0);
    }));
    expect(silent.figures.latencyFromIntended).toMatchObject({ count: 200, never: 10, p50Us: 5_100, p99Us: null, maxUs: null });
    // Nine of the ten heard of it when they asked at the end.
    expect(silent.figures.winnersLatency).toMatchObject({ count: 50, never: 1, p50Us: 5_100, p99Us: null });
  });

  it('is unknown when no request was ever answered, for all that nothing bad was found', () => {
    const refused = edited(handWrittenFacts({ limitedShare: 1 }), (draft) => { draft.history.columns.outcome.fill(1); draft.history.generator.answered = 0; });
    expect(judge(refused)).toMatchObject({ outcome: 'unknown', exitCode: 2 });
  });
});

describe('what a run has to come to', () => {
  const asking = (atLeast: number) => (draft: Draft): void => { draft.run.shows.push({ figure: 'orders-timed-out', atLeast }); };

  it('makes a run unknown that falls short, for all that its judges hold', () => {
    const verdict = after(asking(1));
    expect(verdict).toMatchObject({ outcome: 'unknown', exitCode: 2, shown: [{ figure: 'orders-timed-out', outcome: 'not-shown', atLeast: 1, seen: 0 }] });
    expect(verdict.headline).toContain('did not come to what it tells of: 0 orders that nobody paid and that timed out, at least 1 are needed');
  });

  it('makes a run unknown that goes beyond', () => {
    const verdict = after((draft) => { draft.run.shows.push({ figure: 'orders', atLeast: 0, atMost: 3 }); });
    expect(verdict).toMatchObject({ outcome: 'unknown', exitCode: 2 });
    expect(verdict.headline).toMatch(/did not come to what it tells of: \d+ orders made, at most 3 may be/);
  });

  it('takes nothing from a run that came to it, and excuses no violation', () => {
    expect(after(asking(0))).toMatchObject({ outcome: 'green', exitCode: 0, shown: [{ outcome: 'shown' }] });
    expect(after((draft) => { asking(1)(draft); violate(draft); })).toMatchObject({ outcome: 'violated', exitCode: 1 });
  });

  it('is unknown where the evidence for counting is missing', () => {
    const asked = edited(CLEAN, asking(0));
    expect(judge(without(asked, 'postgres'))).toMatchObject({ outcome: 'unknown', shown: [{ outcome: 'unknown', seen: null }] });
  });
});

describe('what a run cannot prove', () => {
  it.each([
    ['a fault that did not land', { proof: 'not-landed' }],
    ['a fault never injected', { proof: 'not-injected', injectedUs: null }],
    ['a fault not healed', { healed: false }],
    ['a fault that struck too seldom', { strikes: 1 }],
  ] as const)('%s makes it unknown', (_, change) => {
    expect(after((draft) => { fault(draft, change); })).toMatchObject({ outcome: 'unknown', exitCode: 2 });
  });

  it('a proven and healed fault does not', () => {
    expect(after((draft) => { fault(draft, {}); })).toMatchObject({ outcome: 'green' });
  });

  it.each(['history', 'redis', 'kafka', 'postgres', 'commitLog', 'faults', 'settle'] as const)('without %s it is unknown', (kind) => {
    expect(judge(without(CLEAN, kind))).toMatchObject({ outcome: 'unknown', exitCode: 2 });
  });

  it('a judge that crashes is unknown and does not stop the others', () => {
    const verdict = judgeFacts(CLEAN, RUN, (name) => (name === 'no-oversell' ? { ...noOversell, judge: () => { throw new Error('boom'); } } : invariantNamed(name)));
    expect(verdict).toMatchObject({ outcome: 'unknown', exitCode: 2 });
    expect(verdict.invariants[0]).toMatchObject({ name: 'no-oversell', outcome: 'unknown', note: 'the judge crashed: boom' });
    expect(verdict.invariants.filter((judged) => judged.outcome === 'holds')).toHaveLength(INVARIANTS.length - 1);
  });

  it('damaged facts crash judges, not the merge', () => {
    const verdict = after((draft) => { draft.commitLog.transactions[0]?.changes.push({ table: 'orders', kind: 'update', row: {} }); });
    expect(verdict.outcome).toBe('unknown');
  });

  it('an invariant nobody judges, or no invariant at all, is unknown', () => {
    expect(after((draft) => { draft.run.invariants.push('no-such'); })).toMatchObject({ exitCode: 2 });
    expect(after((draft) => { draft.run.invariants = []; })).toMatchObject({ exitCode: 2 });
  });
});

describe('exit codes', () => {
  it('come in the order of precedence', () => {
    expect(EXIT_CODE_PRECEDENCE.map((name) => ExitCode[name])).toEqual([1, 255, 105, 2, 3, 99, 254, 0]);
    expect(firstThatApplies(new Set())).toBe('green');
    expect(firstThatApplies(new Set(['void', 'violated', 'unknown']))).toBe('violated');
  });

  it('every invariant that scenarios name has a judge', () => {
    expect(SAFETY_INVARIANTS.filter((name) => invariantNamed(name) === null)).toEqual([]);
  });
});

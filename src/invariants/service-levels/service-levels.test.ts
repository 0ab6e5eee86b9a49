/** Each service level met, missed, not judged and unknown. */
import { describe, expect, it } from 'vitest';
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../../domain/reason-codes.js';
import type { Facts, ServiceLevelSpec } from '../../facts/facts.js';
import type { ServiceLevelVerdict } from '../../facts/verdict.js';
import { edited, without, type Draft } from '../edited-facts.test-support.js';
import { handWrittenFacts } from '../hand-written-facts.test-support.js';
import { planOf } from '../indexes.js';
import { SERVICE_LEVELS } from './registry.js';

const CALM = handWrittenFacts({ arrivals: 200, stock: 50 });
const level = (facts: Facts, name: ServiceLevelSpec['name'], bound: number): ServiceLevelVerdict => SERVICE_LEVELS[name](facts, { name, bound });
const START_US = 1_000_000_000;
const fault = (draft: Draft, fromUs: number): void => {
  draft.faults.push({
    id: 'kill#1', name: 'kill', options: {}, scheduledUs: fromUs, injectedUs: fromUs, healedUs: fromUs + 1, prediction: '', proof: 'landed', observed: '', healed: true,
    healObserved: '', strikes: 1, strikesAsked: 1, hits: [], mayLose: null,
  });
};

describe('api-p99', () => {
  it('counts from the intended time', () => {
    expect(level(CALM, 'api-p99', 10)).toMatchObject({ outcome: 'met', unit: 'ms' });
    expect(level(CALM, 'api-p99', 10).measured).toBeCloseTo(5.1, 5);
    const late = edited(CALM, (draft) => { for (let index = 0; index < 3; index += 1) draft.history.columns.answeredUs[index] = START_US + 900_000; });
    expect(level(late, 'api-p99', 10)).toMatchObject({ outcome: 'missed' });
  });

  it('takes an arrival without an answer for slower than any bound', () => {
    const lost = edited(CALM, (draft) => { draft.history.columns.outcome.fill(3, 0, 3); });
    expect(level(lost, 'api-p99', 1_000_000)).toMatchObject({ outcome: 'missed', measured: null });
  });

  it('leaves out what lies between the first fault and the recovery', () => {
    const broken = edited(CALM, (draft) => {
      fault(draft, START_US + 500_000);
      for (let index = 60; index < 200; index += 1) draft.history.columns.answeredUs[index] = START_US + 60_000_000;
    });
    expect(level(broken, 'api-p99', 10)).toMatchObject({ outcome: 'met' });
    expect(level(broken, 'api-p99', 10).note).toMatch(/^50 arrivals outside/);
  });

  it('has nothing to judge when the fault covers everything, and knows nothing without a history', () => {
    expect(level(edited(CALM, (draft) => { fault(draft, START_US); }), 'api-p99', 10).outcome).toBe('not-judged');
    expect(level(without(CALM, 'history'), 'api-p99', 10).outcome).toBe('unknown');
    expect(level(without(CALM, 'faults'), 'api-p99', 10).outcome).toBe('not-judged');
  });
});

describe('decided', () => {
  const code = (name: AnswerCode): number => ANSWER_CODES_BY_NUMBER.indexOf(name);

  it('is every arrival, and not one less', () => {
    expect(level(CALM, 'decided', 1)).toMatchObject({ outcome: 'met', measured: 1, unit: 'share' });
    const one = edited(CALM, (draft) => { draft.history.columns.outcome[7] = 3; });
    expect(level(one, 'decided', 1)).toMatchObject({ outcome: 'missed', measured: 0.995 });
    expect(level(one, 'decided', 1).note).toBe('200 arrivals, 1 without an answer');
  });

  it.each(['RESULT_UNKNOWN', 'UNAVAILABLE', 'PAUSED'] as const)('is not who heard %s', (name) => {
    expect(level(edited(CALM, (draft) => { draft.history.columns.answerCode[7] = code(name); }), 'decided', 1).outcome).toBe('missed');
  });

  it('is who was refused by rule, and nobody whose answer cannot be read', () => {
    expect(level(edited(CALM, (draft) => { draft.history.columns.answerCode[199] = code('QUEUE_FULL'); }), 'decided', 1).outcome).toBe('met');
    expect(level(edited(CALM, (draft) => { draft.history.columns.answerCode[199] = 255; }), 'decided', 1).outcome).toBe('missed');
  });

  it('covers what lies outside of the faults, and knows nothing without a history', () => {
    const broken = edited(CALM, (draft) => { fault(draft, START_US + 500_000); draft.history.columns.outcome.fill(3, 60); });
    expect(level(broken, 'decided', 1)).toMatchObject({ outcome: 'met' });
    expect(level(without(CALM, 'history'), 'decided', 1).outcome).toBe('unknown');
    expect(level(without(CALM, 'faults'), 'decided', 1).outcome).toBe('not-judged');
  });
});

describe('winners-p99', () => {
  const winnersAnswers = (draft: Draft, change: (index: number) => void): void => { for (let index = 0; index < 50; index += 1) change(index); expect(draft.history.columns.httpStatus[49]).toBe(202); };

  it('is the wait of all who got a reservation', () => {
    expect(level(CALM, 'winners-p99', 10)).toMatchObject({ outcome: 'met', note: '50 winners', unit: 'ms' });
    expect(level(CALM, 'winners-p99', 10).measured).toBeCloseTo(5.1, 5);
  });

  it('does not leave out who learnt of it by asking again at the end', () => {
    const polled = edited(CALM, (draft) => { winnersAnswers(draft, (index) => { if (index < 4) draft.history.columns.outcome[index] = 3; }); });
    expect(level(polled, 'winners-p99', 300)).toMatchObject({ outcome: 'missed', note: '50 winners' });
    expect(level(polled, 'winners-p99', 300).measured).toBeGreaterThan(10_000);
  });

  it('takes who never heard of it for slower than any bound', () => {
    const never = edited(CALM, (draft) => {
      draft.history.columns.outcome[3] = 3;
      draft.history.tellings = draft.history.tellings.filter((telling) => telling.arrival !== 3);
    });
    expect(level(never, 'winners-p99', 1e9)).toMatchObject({ outcome: 'missed', measured: null, note: '50 winners, 1 of whom never heard of it' });
  });

  it('counts from the request, not from the repeat that heard first', () => {
    const repeated = handWrittenFacts({ arrivals: 200, stock: 50, mix: { repeatShare: 0.5 } });
    const plan = planOf(repeated);
    const repeatOf = new Map<number, number>();
    for (let index = 0; index < plan.length; index += 1) if (plan.requestOf[index] !== index && !repeatOf.has(plan.requestOf[index] ?? 0)) repeatOf.set(plan.requestOf[index] ?? 0, index);
    const slow = edited(repeated, (draft) => { for (const request of repeatOf.keys()) draft.history.columns.outcome[request] = 3; });
    const waits = [...repeatOf].map(([request, repeat]) => (plan.dueUs[repeat] ?? 0) - (plan.dueUs[request] ?? 0) + 5_100);
    const measured = level(slow, 'winners-p99', 10).measured ?? 0;
    expect(measured).toBeGreaterThan(100);
    expect(waits.map((waitUs) => waitUs / 1000)).toContainEqual(expect.closeTo(measured, 3));
  });

  it('knows nothing where nobody knows who won', () => {
    expect(level(without(CALM, 'history'), 'winners-p99', 10).outcome).toBe('unknown');
    expect(level(without(CALM, 'postgres'), 'winners-p99', 10).outcome).toBe('unknown');
    expect(level(edited(CALM, (draft) => { fault(draft, START_US); }), 'winners-p99', 10).outcome).toBe('not-judged');
  });
});

describe('order-within-3s', () => {
  it('is the share of orders committed in time, also of those cancelled later', () => {
    expect(level(CALM, 'order-within-3s', 0.99)).toMatchObject({ outcome: 'met', measured: 1, unit: 'share' });
    const slow = edited(CALM, (draft) => {
      for (const transaction of draft.commitLog.transactions.slice(0, 10)) transaction.committedAtUs += 4_000_000;
    });
    expect(level(slow, 'order-within-3s', 0.9)).toMatchObject({ outcome: 'missed', measured: 0.8 });
    const cancelled = handWrittenFacts({ arrivals: 200, stock: 50, fates: { cancelled: 0.5 } });
    expect(level(cancelled, 'order-within-3s', 0.99).measured).toBe(1);
  });

  it('knows nothing where an order has no time', () => {
    expect(level(without(without(CALM, 'redis'), 'kafka'), 'order-within-3s', 0.5).outcome).toBe('unknown');
    expect(level(without(CALM, 'postgres'), 'order-within-3s', 0.5).outcome).toBe('unknown');
  });
});

describe('recovery-time and drained', () => {
  it('measure from the last heal', () => {
    expect(level(CALM, 'recovery-time', 5_000)).toMatchObject({ outcome: 'met', measured: 1_000 });
    expect(level(CALM, 'drained', 900)).toMatchObject({ outcome: 'missed', measured: 1_000 });
  });

  it('are missed when nothing drained, and unknown when nobody looked', () => {
    const never = edited(CALM, (draft) => { draft.settle.drainedUs = null; draft.settle.open = ['consumer lag 4']; });
    expect(level(never, 'drained', 1_000_000)).toMatchObject({ outcome: 'missed', measured: null });
    expect(level(never, 'drained', 1_000_000).note).toContain('consumer lag 4');
    expect(level(without(CALM, 'settle'), 'recovery-time', 1).outcome).toBe('unknown');
  });
});

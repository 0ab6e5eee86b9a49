/** Each service level met, missed, not judged and unknown. */
import { describe, expect, it } from 'vitest';
import type { Facts, ServiceLevelSpec } from '../../facts/facts.js';
import type { ServiceLevelVerdict } from '../../facts/verdict.js';
import { edited, without, type Draft } from '../edited-facts.test-support.js';
import { handWrittenFacts } from '../hand-written-facts.test-support.js';
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

// What a sweep has to do follows from the list of steps and from what was counted, and from nothing that somebody has to remember.
import { describe, expect, test } from 'vitest';

import { STEPS, STEP_NAMES, type Step, type StepName } from '../../domain/steps.js';
import type { StepCount, SweepCase } from '../../facts/sweep.js';
import { callAfterStep } from '../../faults/call-after-step.js';
import { parseFaultOption } from '../../faults/registry.js';
import { strikesAtSteps } from '../await-strikes.js';
import { pairCases, sampleOf, selectedSteps, sweepCases, WHOLE_SWEEP } from './sweep-cases.js';
import { BASE_OF_SCENARIO, baseNamed, PAUSE_MS, SWEEP_BASES, TAKE_OVER_MS } from './sweep-bases.js';
import { faultOf, isNearer, nearerStrikes, sureCounts, sweepPlan } from './sweep-run.js';

const counted = (hits: number, base = 'sweep-sale'): StepCount[] => STEP_NAMES.map((step) => ({ base, step, hits }));
const generated = (counts = counted(9)) => sweepCases(STEPS, counts, BASE_OF_SCENARIO, WHOLE_SWEEP);
const numbersOf = (cases: readonly SweepCase[], step: string, action: string) => cases.filter(({ strikes }) => strikes[0]?.step === step && strikes[0].action === action).map(({ strikes }) => strikes[0]?.hit);

describe('the cases of a sweep', () => {
  test('every step × kill and pause × first, middle and last hit; cuts where the step has links', () => {
    const { cases, unreached } = generated();
    expect(unreached).toEqual([]);
    for (const step of STEP_NAMES) {
      expect(numbersOf(cases, step, 'kill'), step).toEqual([1, 5, 9]);
      expect(numbersOf(cases, step, 'pause'), step).toEqual([1, 5, 9]);
      expect(new Set(numbersOf(cases, step, 'cut')), step).toEqual(new Set(STEPS[step].links.length > 0 ? [1, 5, 9] : []));
    }
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  });

  test('a new step is swept without anybody thinking of it', () => {
    const name = 'relay.after-something-new' as StepName;
    const more: Record<string, Step> = { ...STEPS, [name]: { role: 'relay', links: ['relay-kafka'], scenario: 'hot-sku' } };
    const reached = sweepCases(more, [...counted(4), { base: 'sweep-life', step: name, hits: 4 }], BASE_OF_SCENARIO, WHOLE_SWEEP);
    expect(reached.cases.filter(({ id }) => id.startsWith(name)).map(({ id, base }) => `${base}: ${id}`)).toEqual([
      `sweep-life: ${name} kill first`, `sweep-life: ${name} pause first`, `sweep-life: ${name} cut first relay-kafka both`,
      `sweep-life: ${name} kill middle`, `sweep-life: ${name} pause middle`, `sweep-life: ${name} cut middle relay-kafka both`,
      `sweep-life: ${name} kill last`, `sweep-life: ${name} pause last`, `sweep-life: ${name} cut last relay-kafka both`,
    ]);
    expect(sweepCases(more, counted(4), BASE_OF_SCENARIO, WHOLE_SWEEP).unreached).toEqual([name]);
  });

  test.each([1, 2, 9])('every link of a step is cut in every way that it can be, also where the step is hit %d times', (hits) => {
    const { cases } = generated(counted(hits));
    for (const step of STEP_NAMES) {
      const links: Step['links'] = STEPS[step].links;
      const cut = cases.flatMap(({ strikes }) => strikes).filter((strike) => strike.step === step && strike.action === 'cut').map(({ link, stream }) => `${String(link)} ${String(stream)}`);
      const ways = links.flatMap((link) => (callAfterStep(step, link) === null ? ['both'] : ['both', 'downstream', 'upstream']).map((stream) => `${link} ${stream}`));
      expect(new Set(cut), step).toEqual(new Set(ways));
    }
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  });

  test('a step that is reached once or twice has no repeats of the same hit', () => {
    expect(numbersOf(generated(counted(1)).cases, 'relay.after-send', 'kill')).toEqual([1]);
    expect(numbersOf(generated(counted(2)).cases, 'relay.after-send', 'kill')).toEqual([1, 2]);
  });

  test('a step is swept in the first base that reaches it, and unreached ones are named', () => {
    const counts: StepCount[] = [{ base: 'a', step: 'relay.after-send', hits: 0 }, { base: 'b', step: 'relay.after-send', hits: 3 }, { base: 'c', step: 'relay.after-send', hits: 9 }];
    const { cases, unreached } = sweepCases(STEPS, counts, { 'hot-sku': 'd' }, { ...WHOLE_SWEEP, steps: 'relay.after-*', actions: ['kill'] });
    expect(cases.map(({ base, id }) => `${base} ${id}`)).toEqual(['b relay.after-send kill first', 'b relay.after-send kill middle', 'b relay.after-send kill last']);
    expect(unreached).toEqual(['relay.after-claim', 'relay.after-mark']);
  });

  test('the base that stands for the scenario of a step goes before the first that happens to reach it', () => {
    const counts: StepCount[] = [{ base: 'a', step: 'relay.after-send', hits: 3 }, { base: 'b', step: 'relay.after-send', hits: 1 }];
    expect(sweepCases(STEPS, counts, { 'hot-sku': 'b' }, { ...WHOLE_SWEEP, steps: 'relay.after-send', actions: ['kill'] }).cases).toMatchObject([{ base: 'b' }]);
    for (const [scenario, base] of Object.entries(BASE_OF_SCENARIO)) {
      expect(STEP_NAMES.map((step) => STEPS[step].scenario)).toContain(scenario);
      expect(baseNamed(base).scenario.name).toBe(base);
    }
  });

  test('patterns take whole names', () => {
    expect(selectedSteps(STEPS, 'relay.*')).toEqual(['relay.after-claim', 'relay.after-send', 'relay.after-mark']);
    expect(selectedSteps(STEPS, 'relay')).toEqual([]);
    expect(selectedSteps(STEPS, null)).toEqual(STEP_NAMES);
  });

  test('each case is a fault that exists, aimed at the first process of the role', () => {
    for (const { strikes } of generated().cases) for (const strike of strikes) expect(parseFaultOption(faultOf(strike)), faultOf(strike)).toMatchObject({ ok: true });
    const [paused] = generated().cases.filter(({ id }) => id === 'relay.after-claim pause first');
    if (paused === undefined) throw new Error('no such case');
    const plan = sweepPlan(baseNamed('sweep-sale'), paused.strikes, { seed: 3, mutant: null, isSecondAttempt: false });
    expect(plan.instances).toContain('relay-2');
    expect(plan.faults).toEqual(['pause-at-step@step=relay.after-claim,hit=1,s=3000ms,partner=works']);
    expect(plan.faultPatienceMs).toBeGreaterThan(TAKE_OVER_MS);
  });

  test('whoever is paused at the first hit has a partner, but where nothing follows that could show that he took over', () => {
    const hasPartner = (step: StepName, when: string) => generated().cases.find(({ id }) => id === `${step} pause ${when}`)?.strikes[0]?.hasPartner;
    expect(STEP_NAMES.filter((step) => ['scanner', 'consumer', 'relay', 'projector', 'closer', 'undertaker', 'reconciler'].includes(STEPS[step].role) && hasPartner(step, 'first') !== true)).toEqual(['reconciler.after-rebuild']);
    expect(STEP_NAMES.filter((step) => hasPartner(step, 'last') === true)).toEqual([]);
  });

  test('strikes are waited for longer than a pause lasts, and than an unpaid order lives', () => {
    for (const base of SWEEP_BASES) {
      const { faultPatienceMs, tuning } = sweepPlan(base, [], { seed: 1, mutant: null, isSecondAttempt: false });
      expect(faultPatienceMs, base.scenario.name).toBeGreaterThan(PAUSE_MS);
      if (tuning.paymentWindowMs < 10_000) expect(faultPatienceMs, base.scenario.name).toBeGreaterThan(tuning.paymentWindowMs);
    }
  });

  test('a counting run has no strike that would end the wait, a case has', () => {
    const [single] = generated().cases;
    if (single === undefined) throw new Error('no case');
    for (const base of SWEEP_BASES) expect(strikesAtSteps(sweepPlan(base, [], { seed: 1, mutant: null, isSecondAttempt: false })), base.scenario.name).toBe(false);
    expect(strikesAtSteps(sweepPlan(baseNamed(single.base), single.strikes, { seed: 1, mutant: null, isSecondAttempt: false }))).toBe(true);
  });

  test('leases and sessions of every base end within a second, and a pause is longer', () => {
    for (const base of SWEEP_BASES) {
      const { tuning } = sweepPlan(base, [], { seed: 1, mutant: null, isSecondAttempt: false });
      for (const ms of [tuning.leaseMs, tuning.consumerSessionTimeoutMs, tuning.reconciler.leaseMs]) expect(ms, base.scenario.name).toBeLessThanOrEqual(1_000);
    }
  });
});

describe('a second attempt', () => {
  const each: SweepCase = { id: 'x', base: 'sweep-sale', strikes: [{ step: 'relay.after-send', action: 'cut', when: 'last', hit: 9, link: 'relay-kafka', stream: 'both', hasPartner: false }] };

  test('strikes well within what the first one reached, and says so', () => {
    for (const [reached, hit] of [[7, 4], [1, 1], [30, 9]] as const) {
      const strikes = nearerStrikes(each, { 'relay.after-send': reached });
      expect(strikes).toMatchObject([{ hit, stream: 'both', link: 'relay-kafka' }]);
      expect(isNearer(each, strikes)).toBe(hit !== 9);
    }
  });

  test('keeps the partner who has to take over', () => {
    const paused: SweepCase = { id: 'y', base: 'sweep-sale', strikes: [{ step: 'relay.after-claim', action: 'pause', when: 'first', hit: 1, link: null, stream: null, hasPartner: true }] };
    expect(nearerStrikes(paused, {})).toMatchObject([{ hit: 1, hasPartner: true }]);
    expect(isNearer(paused, nearerStrikes(paused, {}))).toBe(false);
  });

  test('has the same arrivals, four times as slowly', () => {
    const loads = [false, true].map((isSecondAttempt) => sweepPlan(baseNamed('sweep-sale'), each.strikes, { seed: 1, mutant: null, isSecondAttempt }).load);
    expect(loads).toMatchObject([{ ratePerSecond: 20, durationMs: 600 }, { ratePerSecond: 5, durationMs: 2_400 }]);
  });

  test('only hits that every counting run had are struck at', () => {
    expect(sureCounts('a', [{ 'relay.after-send': 7, 'relay.after-mark': 1 }, { 'relay.after-send': 5 }])).toEqual([{ base: 'a', step: 'relay.after-send', hits: 5 }]);
    expect(sureCounts('a', [])).toEqual([]);
  });
});

describe('drawn by the seed', () => {
  const { cases } = generated();

  test('pairs are different, of one base and of two steps; the same seed draws the same', () => {
    const pairs = pairCases(cases, 40, 5);
    expect(pairs).toHaveLength(40);
    expect(new Set(pairs.map(({ id }) => id)).size).toBe(40);
    for (const { strikes } of pairs) expect(new Set(strikes.map(({ step }) => step)).size).toBe(2);
    const links = pairCases(cases, 2_000, 5).map(({ strikes }) => strikes.flatMap(({ link }) => link ?? []));
    expect(links.some((cut) => cut.length === 2)).toBe(true);
    for (const cut of links) expect(new Set(cut).size).toBe(cut.length);
    expect(pairCases(cases, 40, 5)).toEqual(pairs);
    expect(pairCases(cases, 40, 6)).not.toEqual(pairs);
    expect(pairCases(cases.slice(0, 1), 3, 5)).toEqual([]);
  });

  test('the sample has every role with every action', () => {
    const roleOf = (step: StepName) => STEPS[step].role;
    const kinds = (list: readonly SweepCase[]) => new Set(list.map(({ strikes }) => `${strikes[0] === undefined ? '' : roleOf(strikes[0].step)} ${strikes[0]?.action ?? ''}`));
    const sample = sampleOf(cases, 36, 9, roleOf);
    expect(sample).toHaveLength(36);
    expect(kinds(sample)).toEqual(kinds(cases));
    expect(sampleOf(cases, 36, 9, roleOf)).toEqual(sample);
  });
});

// Every scenario names each judge that has something to say about it, and a fault from the command line brings its judge along.
import { describe, expect, it } from 'vitest';

import { DEFAULT_FUNNEL } from '../domain/funnel.js';
import { INVARIANTS } from '../invariants/registry.js';
import { judgesOfRun } from './judges-of-run.js';
import { SCENARIOS } from './registry.js';
import { LIFE_INVARIANTS, SAFETY_INVARIANTS } from './scenario.js';

/** Where fewer orders than could be sold are no fault of the system. */
const MAY_UNDERSELL: Readonly<Record<string, string>> = {
  'broker-outage': 'the breaker sends buyers away',
  'slow-consumer': 'admission sends buyers away',
  'recovery-flood': 'admission sends buyers away',
  'redis-failover': 'who lost his place with Redis would count as a buyer whom nobody served',
  'pay-vs-close': 'units come back until the last order has ended, and the stock is larger than the crowd',
  'expiry-wave': 'what runs out leaves the sale',
  'duplicate-compensation': 'units come back until the last order has ended, after the last buyer has gone',
  'rough-network-of-life': 'units come back until the last order has ended, and the stock is larger than the crowd',
  'skewed-clocks': 'units come back until the last order has ended, and the stock is larger than the crowd',
  'redis-eviction': 'who lost his place with Redis would count as a buyer whom nobody served',
  'redis-tail-loss': 'who lost his place with Redis would count as a buyer whom nobody served',
  'restart-everything': 'gateways that are dead sell nothing, and the stock is larger than the crowd',
};

describe.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))('%s', (name, scenario) => {
  it('names every judge that applies, once', () => {
    const applies = judgesOfRun(scenario.load.payers === null ? SAFETY_INVARIANTS : LIFE_INVARIANTS, scenario.faults, scenario.tuning.funnel ?? DEFAULT_FUNNEL);
    expect(applies.filter((judge) => !scenario.invariants.includes(judge))).toEqual([]);
    expect(new Set(scenario.invariants).size).toBe(scenario.invariants.length);
    expect(scenario.invariants.filter((judge) => !INVARIANTS.some((known) => known.name === judge))).toEqual([]);
  });

  it('asks whether everything was sold, or says why not', () => {
    expect(scenario.invariants.includes('no-undersell')).toBe(MAY_UNDERSELL[name] === undefined);
  });
});

describe('judges of a run', () => {
  const of = (fault: string, layers: Partial<typeof DEFAULT_FUNNEL.layers> = {}): readonly string[] => judgesOfRun(['no-oversell'], [fault], { layers: { ...DEFAULT_FUNNEL.layers, ...layers } });

  it.each([
    ['redis-down@t=4s,s=5', {}, ['fail-closed']],
    ['redis-failover@t=4s,lose=500', {}, ['fail-closed']],
    ['broker-outage@t=4s,s=6', { breaker: true }, ['fail-closed']],
    ['broker-outage@t=4s,s=6', {}, []],
    ['pg-outage@t=2s,s=7', {}, []],
    ['pg-outage@t=2s,s=7', { 'admission-limit': true }, ['admission-bounded']],
    ['pg-outage@t=2s,s=7', { permit: true }, ['permit-once']],
    ['pg-outage@t=2s,s=7', { 'waiting-room': true }, ['lottery-kept']],
  ])('%s with layers %j', (fault, layers, added) => {
    expect(of(fault, layers)).toEqual(['no-oversell', ...added]);
  });
});

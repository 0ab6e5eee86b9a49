/** What reached Redis is what the gateways counted at their calls, and is not guessed where a count is missing. */
import { expect, it } from 'vitest';

import type { Facts, MetricsFacts } from '../facts/facts.js';
import { costFigures } from './cost-figures.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';

const WHOLE = { counts: [{ layer: 'known', outcome: 'passed', count: 6_477 }, { layer: 'in-flight', outcome: 'passed', count: 12_238 }], restarted: [] };
const told = (metrics: MetricsFacts): Facts => ({ ...handWrittenFacts(), metrics: { present: true, value: metrics } });
const ASKED = 'reservation_lua_requests_total{role="gateway"}';

it('is the sum over the gateways, not what their funnels let pass', () => {
  const facts = told({ 'gateway-1': { [ASKED]: 9_000, 'reservation_lua_duration_count{operation="reserve_batch"}': 200 }, 'gateway-2': { reservation_lua_requests_total: 1_500 }, 'scanner-1': { [ASKED]: 7 }, lab: {} });
  expect(costFigures(facts, WHOLE).reachedRedis).toBe(10_500);
});

it('is not known without a count, or when a gateway began to count again', () => {
  expect(costFigures(told({ 'gateway-1': {} }), WHOLE).reachedRedis).toBeNull();
  const facts = told({ 'gateway-1': { [ASKED]: 9_000 } });
  expect(costFigures(facts, { ...WHOLE, restarted: ['gateway-1'] }).reachedRedis).toBeNull();
  expect(costFigures(facts, { ...WHOLE, restarted: null }).reachedRedis).toBeNull();
});

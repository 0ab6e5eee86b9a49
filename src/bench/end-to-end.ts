/**
 * `end-to-end`: 10,000 units sold at once, and how long each took from its reservation in Redis to its committed order, with the whole system on this machine.
 * A run that violates an invariant, or of which too little is known, is no measurement.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Facts } from '../facts/facts.js';
import type { RunVerdict } from '../facts/verdict.js';
import { reservationToCommit } from '../invariants/order-delays.js';
import { runExperiment } from '../lab/run-experiment.js';
import { planRun } from '../lab/run-plan.js';
import { readHistory } from '../load/read-history.js';
import { readFacts } from '../report/read-facts.js';
import { createRunFolder } from '../report/run-folder.js';
import type { Scenario } from '../scenarios/scenario.js';
import { SPIKE } from '../scenarios/spike.js';
import type { RunningStack } from '../stack/running-stack.js';
import { BARS } from './bars.js';
import { tryAll, type Bench } from './bench.js';

const UNITS = 10_000;

/** How late a client knocked is no matter here, but when its unit was reserved, which has a bar. */
const { latenessBoundMs: _ofTheSpikes, ...LOAD } = SPIKE.load;

/** All units are gone within a fifth of a second where the gateway can. What an order does not need comes after the orders. */
const SALE_AT_ONCE: Scenario = {
  ...SPIKE,
  name: 'bench-end-to-end',
  claim: '10,000 units sold at once: 99.9 % of the orders within 3 s of their reservation.',
  stock: UNITS,
  load: { ...LOAD, ratePerSecond: 100_000, durationMs: 250 },
  priorities: { relay: 19, projector: 19, scanner: 19, 'redis-replica': 10 },
  serviceLevels: [{ name: 'order-within-3s', bound: 0.999 }],
};

/** From the first reservation that became an order to the last; no number where there is none. */
export function saleMs(facts: Facts): number {
  const reservedUs = reservationToCommit(facts).delays.map((delay) => delay.reservedUs);
  const [first, last] = reservedUs.reduce(([least, most], us) => [Math.min(least, us), Math.max(most, us)], [Infinity, -Infinity]);
  return reservedUs.length === 0 ? Number.NaN : (last - first) / 1_000;
}

/** Share within 3 s in per cent, p99.9 and the longest in ms, and how long the sale took. Throws unless the run is good evidence for 10,000 orders. */
export function figuresOf(verdict: Pick<RunVerdict, 'outcome' | 'headline' | 'serviceLevels' | 'figures'>, soldWithinMs: number): readonly number[] {
  const { outcome, headline, serviceLevels, figures } = verdict;
  if (outcome !== 'green' && outcome !== 'service-level-missed') throw new Error(`the run is ${outcome}: ${headline}`);
  const level = serviceLevels.find(({ name }) => name === 'order-within-3s');
  const delays = figures.reservationToOrder;
  if (figures.orders !== UNITS || typeof level?.measured !== 'number' || delays === null) throw new Error(`${String(figures.orders)} orders instead of ${String(UNITS)}: ${headline}`);
  return [100 * level.measured, (delays.p999Us ?? NaN) / 1_000, (delays.maxUs ?? NaN) / 1_000, soldWithinMs];
}

async function measure(stack: RunningStack, round: number): Promise<readonly number[]> {
  const options = { seed: round };
  const plan = planRun(SALE_AT_ONCE, options, null);
  const reports = await mkdtemp(join(tmpdir(), 'seckill-bench-'));
  const store = await createRunFolder(reports, plan.scenario.name, plan.startedAt, plan.seed);
  const verdict = await runExperiment(plan, {
    store, emit: (event) => { store.appendEvent(event); }, abort: new AbortController(), stackSource: { kind: 'lent', handle: stack, lane: 0, workers: null }, argv: [], options,
  });
  try {
    const figures = figuresOf(verdict, saleMs(await readFacts(store.directory, readHistory)));
    await rm(reports, { recursive: true, force: true });
    return figures;
  } catch (cause) {
    // What was no measurement stays to be looked at.
    throw new Error(`${cause instanceof Error ? cause.message : String(cause)}; the run is kept in ${store.directory}`, { cause });
  }
}

export const endToEndBench: Bench = {
  name: 'end-to-end',
  async run(tools) {
    const stack = await tools.stack();
    return tryAll(tools, {
      name: 'end-to-end, 10,000 units at once, reservation to committed order',
      figures: [{ label: '% within 3 s', bound: BARS.ordersWithin3sPercent }, { label: 'ms p99.9', bound: null }, { label: 'ms at most', bound: null }, { label: 'ms from the first reservation to the last', bound: BARS.saleMs }],
      measure: (round) => measure(stack, round),
    });
  },
};

// A plan file: what is accepted, that every problem is told at once, and that a run's own plan is a plan that gives the same run.
import { expect, test } from 'vitest';
import { stringify } from 'yaml';

import { LabError } from '../facts/lab-error.js';
import { SCENARIOS, scenarioNamed } from '../scenarios/registry.js';
import { faultProblems, parsePlan, rawOptionsOf } from './plan-file.js';
import { parseRunOptions } from './run-options.js';
import { experimentPlanOf, planRun } from './run-plan.js';

function problemsOf(text: string): string {
  try {
    parsePlan(text, 'plan.yaml');
  } catch (cause) {
    if (cause instanceof LabError && cause.code === 'USAGE') return cause.message;
    throw cause;
  }
  return '';
}

const YAML = `
schemaVersion: 1
scenario: hot-sku
seed: 7
options: { rate: 300, duration: 8s, stock: 200 }
faults:
  - pg-outage@t=2s,s=3
  - kill-role@step=gateway.after-reserve,times=2
mutant: inbox-off
`;

test('YAML and JSON say the same', () => {
  const plan = parsePlan(YAML, 'plan.yaml');
  expect(parsePlan(JSON.stringify(plan), 'plan.json')).toEqual(plan);
  expect(rawOptionsOf(plan)).toEqual({ rate: '300', duration: '8s', stock: '200', seed: '7' });
});

test.each([
  ['{', ['neither YAML nor JSON']],
  ['scenario: hot-sku\nscenario: bots', ['neither YAML nor JSON']],
  ['schemaVersion: 2\nscenario: hot-potato\nseed: 0\ncolour: red', ['schemaVersion must be 1', 'seed must be at least 1', 'it has no colour; it has schemaVersion scenario seed options faults mutant']],
  ['schemaVersion: 1\nscenario: hot-potato\noptions: { rate: 0, speed: 3, duration: soon }\nmutant: nobody\nfaults: [nonsense, pg-outage@s=x]',
    ['no scenario "hot-potato"', 'options.rate 0', 'no option speed', 'options.duration soon', 'no mutant "nobody"', 'no fault is called "nonsense"', 's is a time']],
  ['schemaVersion: 1\nscenario: hot-sku\noptions: { fault: x, seed: 3 }', ['no option fault', 'no option seed']],
  ['schemaVersion: 1\nscenario: hot-sku\nfaults: [pg-outage@t=1s, slow-consumer@t=2s]', ['pg-outage@t=1s and slow-consumer@t=2s cannot run together']],
])('%s', (text, parts) => {
  const problems = problemsOf(text);
  for (const part of parts) expect(problems).toContain(part);
});

test.each([
  [['pg-outage@t=1s,s=2', 'pg-outage@t=3s,s=2'], false],
  [['pg-outage@t=1s,s=2', 'pg-outage@t=2s,s=2'], true],
  [['pg-outage@t=1s,s=2,role=relay', 'pg-outage@t=1s,s=2,role=consumer'], false],
  [['broker-outage@t=1s,s=5,mode=kill', 'lose-produce-ack@t=4s'], true],
  [['broker-outage@t=1s,s=5', 'redis-down@t=1s,s=5'], false],
  [['redis-failover@t=4s', 'redis-down@t=9s'], true],
  [['redis-failover@t=4s', 'link-toxic@link=gateway-kafka,type=timeout,t=4s'], false],
  [['freeze-role@role=consumer-1', 'freeze-role@role=consumer-2'], false],
  [['freeze-role@role=consumer-1', 'freeze-role@role=consumer-1,t=1s'], true],
  [['link-toxic@link=relay-kafka,type=timeout', 'cut-at-step@step=relay.after-claim,link=relay-kafka'], true],
])('%s together: refused %s', (texts, refused) => {
  expect(faultProblems(texts).length > 0).toBe(refused);
});

test.each(SCENARIOS.map(({ name, faults }) => [name, faults] as const))('%s: its own faults get along', (_, faults) => {
  expect(faultProblems(faults)).toEqual([]);
});

test('the plan of a run, written down and read again, gives the same run', () => {
  const scenario = scenarioNamed('pg-outage');
  if (scenario === null) throw new Error('no scenario pg-outage');
  const options = parseRunOptions({ rate: '50', duration: '1500ms', consumers: '2', allocator: 'row', consumer: 'single', fault: ['kill-role@step=relay.after-send'] });
  const plan = planRun(scenario, options, null);
  const written = parsePlan(stringify(experimentPlanOf(plan, options)), 'plan.yaml');
  const again = planRun({ ...scenario, faults: written.faults ?? [] }, parseRunOptions(rawOptionsOf(written)), written.mutant ?? null);
  for (const key of ['seed', 'load', 'stock', 'strategies', 'tuning', 'instances', 'faults', 'mutant'] as const) expect(again[key], key).toEqual(plan[key]);
});

/** What must not be green: removed guards, faults that hit nothing, a starved generator, a server that dies. */
import { afterEach, beforeEach, expect, it } from 'vitest';

import { noUniqueKey } from '../src/mutants/no-unique-key.js';
import { freshFolder, lab, nothingLeftWithin, pidsMatching, snapshot, startLab, verdictOf, type Snapshot } from './support/lab-process.js';

let before: Snapshot;
beforeEach(() => {
  before = snapshot();
});
afterEach(async () => {
  expect(await nothingLeftWithin(before, 5_000)).toEqual([]);
});

const reports = freshFolder('wrong-runs');

it('without a guard its judge says violated and the run exits 1', async () => {
  const { name, caughtBy, showsUnder } = noUniqueKey;
  const finished = await lab('run', showsUnder.name, '--mutant', name, '--json', '--report-dir', reports);
  const verdict = verdictOf(finished);
  const said = verdict.invariants.find((judge) => judge.name === caughtBy);
  expect({ code: finished.code, said }).toMatchObject({ code: 1, said: { outcome: 'violated' } });
  expect(said?.worst?.biography.length).toBeGreaterThan(0);
});

it('a fault aimed at a link nobody uses leaves the run unknown: exit 2', async () => {
  const finished = await lab('run', 'hot-sku', '--rate', '300', '--duration', '5s', '--fault', 'link-toxic@link=retention-postgres,type=latency,latency=200ms,t=1s,s=2', '--json', '--report-dir', reports);
  const verdict = verdictOf(finished);
  expect(finished.code).toBe(2);
  expect(verdict.faults).toMatchObject([{ proof: 'not-landed' }]);
  expect(verdict.outcome).toBe('unknown');
});

it('a starved generator makes the run void, and p99 shows it: exit 3', async () => {
  const run = startLab(['run', 'hot-sku', '--rate', '500', '--duration', '10s', '--json', '--report-dir', reports]);
  await run.says(/storm …[\s\S]*offered [1-9]/);
  const [generator] = pidsMatching(/load\/main\.js/);
  if (generator === undefined) throw new Error('no generator process found');
  process.kill(generator, 'SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  process.kill(generator, 'SIGCONT');
  const finished = await run.done;
  const verdict = verdictOf(finished);
  expect(finished.code).toBe(3);
  expect(verdict.load.outcome).toBe('void');
  expect(verdict.load.generator?.latenessP99Us).toBeGreaterThan(1_000_000);
  expect(verdict.figures.latencyFromIntended?.p99Us).toBeGreaterThan(1_000_000);
});

it.each([
  ['kafka', /\/java /],
  ['redis-primary', /redis-server/],
  ['postgres', /bin\/postgres/],
])('a %s that dies during the run is named with its last lines: exit 2', async (name, pattern) => {
  const known = new Set(pidsMatching(pattern));
  const run = startLab(['run', 'hot-sku', '--rate', '200', '--report-dir', reports]);
  await run.says(/storm …[\s\S]*offered [1-9]/);
  const [pid] = pidsMatching(pattern).filter((each) => !known.has(each));
  if (pid === undefined) throw new Error(`no process of ${name} found`);
  process.kill(pid, 'SIGKILL');
  const { code, stderr } = await run.done;
  expect(code).toBe(2);
  expect(stderr).toMatch(new RegExp(`${name === 'redis-primary' ? 'redis-(primary|replica)' : name} died during the run`));
  expect(stderr).toMatch(/next: /);
});

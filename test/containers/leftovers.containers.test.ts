/** However a run in containers ends, nothing of it stays on the engine, and it says what went wrong. */
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { OWNER_LABEL, PART_LABEL, STACK_LABEL } from '../../src/stack/containers/labels.js';
import { readProcess } from '../../src/stack/local/process-table.js';
import { readStackFile } from '../../src/stack/stack-file.js';
import { freshFolder, lab, startLab, verdictOf } from '../support/lab-process.js';
import { docker, leftOnEngine, volumes } from './engine.js';

const reports = freshFolder('containers');
const run = (...args: string[]): readonly string[] => ['run', 'hot-sku', '--stack', 'containers', '--rate', '200', '--stock', '100', '--plain', '--report-dir', reports, ...args];

interface OwnStack {
  readonly id: string;
  readonly reaperPid: number;
  readonly owner: Readonly<Record<string, unknown>>;
}

/** The stack of this very lab: its reaper is the lab's child. Whatever else may be on the engine is not touched. */
async function stackOf(lab: ChildProcess): Promise<OwnStack> {
  const containers = await (await docker()).listContainers({ all: true, filters: { label: [STACK_LABEL] } });
  for (const { Labels } of containers) {
    const owner = JSON.parse(Labels[OWNER_LABEL] ?? '{}') as Readonly<Record<string, unknown>> & { pid?: number };
    if (owner.pid !== undefined && readProcess(owner.pid)?.parentPid === lab.pid) return { id: Labels[STACK_LABEL] ?? '', reaperPid: owner.pid, owner };
  }
  throw new Error('the lab has no container on this engine');
}

beforeEach(async () => {
  // A stack of somebody else would be taken for what a test has left.
  expect(await leftOnEngine()).toEqual([]);
});
afterEach(async () => {
  expect(await leftOnEngine(15_000)).toEqual([]);
});

it.each(['stack', 'system', 'probe', 'storm', 'settle', 'harvest'])('Ctrl-C in the stage %s leaves nothing', async (stage) => {
  const before = await volumes();
  const started = startLab(run('--duration', '2s'));
  await started.says(new RegExp(`\\b${stage} …`));
  started.child.kill('SIGINT');
  const { code } = await started.done;
  expect(code).toBe(105);
  expect(await leftOnEngine(2_000)).toEqual([]);
  expect(await volumes()).toEqual(before);
});

it('Ctrl-C while a fault is in heals, exits 105 and leaves nothing, with roles in containers too', async () => {
  const started = startLab(run('--duration', '20s', '--roles', 'containers', '--fault', 'pg-outage@t=1s,s=15,mode=freeze'));
  await started.says(/pg-outage#1 armed/);
  started.child.kill('SIGINT');
  const { code, stderr } = await started.done;
  expect([code, stderr.includes('pg-outage#1 healed')]).toEqual([105, true]);
  expect(await leftOnEngine(2_000)).toEqual([]);
});

it('a lab that is killed leaves nothing, by its reaper', async () => {
  const started = startLab(run());
  await started.says(/\bstorm …/);
  started.child.kill('SIGKILL');
  await started.done;
  expect(await leftOnEngine(15_000)).toEqual([]);
});

it('what is left when lab and reaper are killed together goes at the next start', async () => {
  const killed = startLab(run('--duration', '20s'));
  await killed.says(/\bstorm …/);
  const { reaperPid } = await stackOf(killed.child);
  // Stopped first, so that neither sees the other's end.
  process.kill(reaperPid, 'SIGSTOP');
  killed.child.kill('SIGKILL');
  await killed.done;
  process.kill(reaperPid, 'SIGKILL');
  expect((await leftOnEngine()).filter((thing) => thing.startsWith('container'))).toHaveLength(5);
  const next = await lab(...run('--duration', '2s'));
  expect(next.stderr).toMatch(/removed what a dead lab had left: container .*\(kafka\)/);
  expect(await leftOnEngine(2_000)).toEqual([]);
});

it('a lab that is killed on a stack that lives on leaves none of its roles, not even one that is stopped', async () => {
  const stackFile = join(reports, 'standing.json');
  expect((await lab('up', '--stack', 'containers', '--stack-file', stackFile)).code).toBe(0);
  try {
    const { id } = await readStackFile(stackFile);
    const engine = await docker();
    const parts = async (): Promise<string[]> => (await engine.listContainers({ all: true, filters: { label: [`${STACK_LABEL}=${id}`] } })).map(({ Labels }) => Labels[PART_LABEL] ?? '').sort();
    const servers = await parts();
    const killed = startLab(['run', 'hot-sku', '--stack-file', stackFile, '--roles', 'containers', '--plain', '--report-dir', reports]);
    await killed.says(/\bstorm …/);
    const [consumer] = await engine.listContainers({ filters: { label: [`${STACK_LABEL}=${id}`, `${PART_LABEL}=consumer-1`] } });
    process.kill((await engine.getContainer(consumer?.Id ?? '').inspect()).State.Pid, 'SIGSTOP');
    killed.child.kill('SIGKILL');
    await killed.done;
    await expect.poll(parts, { timeout: 15_000 }).toEqual(servers);
  } finally {
    expect((await lab('down', '--stack-file', stackFile)).code).toBe(0);
  }
});

it('clean takes what a dead lab had left, and what a living lab has stays', async () => {
  const living = startLab(run('--duration', '20s'));
  await living.says(/\bstorm …/);
  const engine = await docker();
  // As a killed lab leaves it: labels of an owner that does not live.
  const owner = JSON.stringify({ ...(await stackOf(living.child)).owner, pid: 1, startTicks: '0' });
  const network = await engine.createNetwork({ Name: 'seckill-lab-abandoned', Labels: { [STACK_LABEL]: 'abandoned', [OWNER_LABEL]: owner } });
  const stranger = await engine.createNetwork({ Name: 'a-stranger' });
  try {
    const cleaned = await lab('clean');
    expect(cleaned.code).toBe(0);
    expect(cleaned.stdout).toContain('removed network seckill-lab-abandoned');
    expect(cleaned.stdout).toMatch(/left {4}container .*\(kafka\): its lab is running/);
    await expect(network.inspect()).rejects.toMatchObject({ statusCode: 404 });
    expect(await stranger.inspect()).toMatchObject({ Name: 'a-stranger' });
  } finally {
    await stranger.remove();
    living.child.kill('SIGINT');
    await living.done;
  }
});

it('two labs at once on one engine do not disturb each other', async () => {
  const args = ['run', 'stock-of-one', '--stack', 'containers', '--rate', '100', '--duration', '5s', '--stock', '50', '--json', '--report-dir', reports];
  const both = await Promise.all([lab(...args, '--seed', '1'), lab(...args, '--seed', '2')]);
  for (const finished of both) {
    const verdict = verdictOf(finished);
    expect(verdict.invariants.filter(({ outcome }) => outcome === 'violated' || outcome === 'unknown')).toEqual([]);
    // Two labs on two cores: how fast they are is not the question.
    expect([0, 3, 99]).toContain(finished.code);
    expect(verdict.figures.orders).toBe(50);
  }
});

it('a container that somebody kills in the storm is named; exit 2', async () => {
  const started = startLab(run('--duration', '20s'));
  await started.says(/\bstorm …/);
  const engine = await docker();
  const { id } = await stackOf(started.child);
  const [postgres] = await engine.listContainers({ filters: { label: [`${STACK_LABEL}=${id}`, `${PART_LABEL}=postgres`] } });
  await engine.getContainer(postgres?.Id ?? '').kill();
  const { code, stderr } = await started.done;
  expect(stderr).toContain('postgres died during the run, and no fault had killed it');
  expect(code).toBe(2);
});

it('an image that does not exist is named with the mend; exit 2', async () => {
  const { code, stderr } = await lab(...run('--image', 'redis=seckill-lab/no-such-image:1'));
  expect(code).toBe(2);
  expect(stderr).toContain('seckill-lab/no-such-image:1');
  expect(stderr).toContain('images build');
});

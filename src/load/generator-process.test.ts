/** The generator as the lab runs it, in a process of its own: the whole protocol, death by SIGKILL, starvation by SIGSTOP, and the lab's end. */
import { execFileSync, fork } from 'node:child_process';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { LabError } from '../facts/lab-error.js';
import { judgeLoad, percentileOf } from '../facts/load-honesty.js';
import type { LoadSpec } from '../facts/load-spec.js';
import { startGenerator, type RunningGenerator } from './generator-client.js';
import type { LoadJob, LoadProgress } from './load-job.js';
import { monoNowUs } from './mono-clock.js';
import { readHistory } from './read-history.js';
import { loadSpec, temporaryFolder } from './storm-run.test-support.js';
import { StubGateway } from './stub-gateway.test-support.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let compiled: Awaited<ReturnType<typeof temporaryFolder>>;
let run: Awaited<ReturnType<typeof temporaryFolder>>;
let stub: StubGateway;
let entry: string;

/** The process needs JavaScript, and the test must see the source as it is now, not the last build. */
async function compile(folders: readonly string[], into: string): Promise<void> {
  const source = dirname(import.meta.dirname);
  await writeFile(join(into, 'package.json'), '{"type":"module"}');
  for (const folder of folders) {
    await mkdir(join(into, folder));
    for (const name of await readdir(join(source, folder))) {
      if (!name.endsWith('.ts') || name.includes('.test')) continue;
      const options = { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2023 };
      const { outputText } = ts.transpileModule(await readFile(join(source, folder, name), 'utf8'), { compilerOptions: options });
      await writeFile(join(into, folder, name.replace(/ts$/, 'js')), outputText);
    }
  }
}

beforeAll(async () => {
  compiled = await temporaryFolder();
  await compile(['domain', 'facts', 'load', 'load/edge'], compiled.path);
  entry = join(compiled.path, 'load', 'main.js');
});
afterAll(() => compiled.remove());
beforeEach(async () => {
  run = await temporaryFolder();
  let arrivals = 0;
  stub = await StubGateway.start((request) => {
    if (request.requestId.startsWith('rehearsal')) return request.answer('INVALID');
    arrivals += 1;
    if (arrivals <= 20) request.answer('QUEUED', { reservationId: '01890000-0000-7000-8000-0000000000ff' });
    else request.answer('SOLD_OUT');
  });
});
afterEach(async () => {
  await stub.kill();
  await run.remove();
});

function jobOf(load: LoadSpec): LoadJob {
  return { load, targets: [stub.address], directory: run.path, inproc: null, payment: null, permitSecret: null };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie of a parent that has not looked yet is dead too.
    return !/^State:\s+Z/m.test(execFileSync('cat', [`/proc/${String(pid)}/status`], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  } catch {
    return false;
  }
}

async function started(load: LoadSpec, onProgress: (progress: LoadProgress) => void = () => undefined): Promise<RunningGenerator> {
  const generator = await startGenerator(jobOf(load), { entry, onProgress });
  generator.start(monoNowUs() + 100_000);
  return generator;
}

describe('the generator in its own process', () => {
  it('gets ready, blows, settles, stops, and leaves a complete history', async () => {
    const load = loadSpec({ durationMs: 1_200 });
    const progress: LoadProgress[] = [];
    const pids: number[] = [];
    const generator = await startGenerator(jobOf(load), { entry, onProgress: (step) => progress.push(step), onSpawn: (pid) => pids.push(pid) });
    expect(pids).toEqual([generator.pid]);
    expect(generator.ready).toMatchObject({ arrivals: 1_200, connected: [64], rehearsed: 4_000 });
    const startUs = monoNowUs() + 50_000;
    generator.start(startUs);
    const facts = await generator.stormDone;
    expect(facts).toMatchObject({ scheduled: 1_200, issued: 1_200, answered: 1_200 });
    expect(facts.startedUs).toBeCloseTo(startUs, 0);
    expect(await generator.finalPolls()).toEqual({ asked: 20, unanswered: 0, gatewayMetrics: null });
    await generator.stop();
    expect(isAlive(generator.pid)).toBe(false);
    expect(progress.length).toBeGreaterThanOrEqual(2);
    expect(progress.at(-1)).toMatchObject({ scheduled: 1_200, offered: 1_200, issued: 1_200, decided: 1_200, accepted: 20 });

    const history = await readHistory(run.path, load);
    expect(history).toMatchObject({ complete: true, problems: [], generator: facts });
    expect(history.tellings.filter(({ kind }) => kind === 'first-answer').length).toBe(20);
    expect(history.tellings.filter(({ kind }) => kind === 'final-poll').length).toBe(20);
    // Another seed is another schedule: the rows are not those of that plan.
    const other = await readHistory(run.path, { ...load, shape: { kind: 'poisson' } });
    expect(other.complete).toBe(false);
  });

  it('is missed when it is killed, and what it left is known to be incomplete', async () => {
    let killed = false;
    const load = loadSpec({ durationMs: 20_000 });
    const generator = await started(load, ({ accepted }) => {
      if (accepted > 0 && !killed) killed = process.kill(generator.pid, 'SIGKILL');
    });
    await expect(generator.stormDone).rejects.toThrow(LabError);
    await expect(generator.finalPolls()).rejects.toMatchObject({ code: 'GENERATOR_FAILED' });
    await generator.stop();
    const history = await readHistory(run.path, load);
    expect(history.complete).toBe(false);
    expect(history.problems.join('\n')).toMatch(/history\.bin is missing[^]*no storm-end[^]*no end/);
    expect(history.columns.length).toBe(20_000);
    expect(history.generator.indeterminate).toBe(20_000);
  });

  it('shows two seconds of starvation in its lateness and in p99, and the run is void', async () => {
    let stopped = false;
    const load = loadSpec({ durationMs: 3_000 });
    const generator = await started(load, () => {
      if (stopped) return;
      stopped = process.kill(generator.pid, 'SIGSTOP');
      setTimeout(() => process.kill(generator.pid, 'SIGCONT'), 2_000);
    });
    const facts = await generator.stormDone;
    await generator.stop();
    expect(facts.latenessP99Us).toBeGreaterThan(1_500_000);
    expect(facts.maxTickGapUs).toBeGreaterThan(1_900_000);
    expect(judgeLoad(facts, 500_000)).toMatchObject({ outcome: 'void', reasons: [expect.stringContaining('lateness p99')] });
    const { columns } = await readHistory(run.path, load);
    expect(percentileOf(columns.answeredUs.map((answered, index) => answered - columns.intendedUs[index]!).sort(), 0.99)).toBeGreaterThan(1_500_000);
  });

  it('keeps a whole history when it is stopped in mid-storm, which is void', async () => {
    const load = loadSpec({ durationMs: 20_000 });
    let progressed = (): void => undefined;
    const running = new Promise<void>((resolve) => (progressed = resolve));
    const generator = await started(load, ({ accepted }) => accepted > 0 && progressed());
    await running;
    await generator.stop();
    const history = await readHistory(run.path, load);
    expect(history).toMatchObject({ complete: true, problems: [] });
    expect(history.generator.dropped).toBeGreaterThan(10_000);
    expect(judgeLoad(history.generator, null).outcome).toBe('void');
  });

  it('says why it does not get ready, and leaves no process', async () => {
    await stub.kill();
    const pids: number[] = [];
    await expect(startGenerator(jobOf(loadSpec()), { entry, onSpawn: (pid) => pids.push(pid) })).rejects.toMatchObject({ code: 'GENERATOR_FAILED', message: expect.stringContaining('no gateway accepts a connection') as string });
    expect(pids.map(isAlive)).toEqual([false]);
  });

  it('ends by itself when its lab dies', async () => {
    const lab = join(run.path, 'lab.mjs');
    await writeFile(lab, `import { startGenerator } from ${JSON.stringify(join(compiled.path, 'load', 'generator-client.js'))};
const generator = await startGenerator(${JSON.stringify(jobOf(loadSpec({ durationMs: 60_000 })))});
generator.start(Number(process.hrtime.bigint()) / 1000);
process.send(generator.pid);`);
    const child = fork(lab, [], { execArgv: [], silent: true });
    const pid = await new Promise<number>((resolve) => child.on('message', (message) => resolve(message as number)));
    expect(isAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), { timeout: 10_000 });
  });
});

// What is looked at and pulled before anything starts, against a stub of the engine: names, room, progress, and how a pull ends that nobody waits for any more.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { LabError } from '../../facts/lab-error.js';
import { reachEngine } from './engine.js';
import { lookAtEngine } from './look-at-engine.js';
import { preflight } from './preflight.js';
import { pullImage } from './pull-image.js';
import { imageAnswer, startStubEngine, type StubEngine } from './stub-engine.test-support.js';

const ID = `sha256:${'ab'.repeat(32)}`;
const DIGEST = `redis@sha256:${'cd'.repeat(32)}`;
let engine: StubEngine;
let notes: string[];
const note = (text: string): void => void notes.push(text);

beforeAll(async () => {
  engine = await startStubEngine();
});
beforeEach(() => {
  notes = [];
  engine.info = {};
  engine.answers = [];
  engine.requests.length = 0;
  delete process.env['TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX'];
});
afterAll(() => { engine.close(); });

const line = (progress: unknown): string => `${JSON.stringify(progress)}\n`;

it('takes the official image where it is there, with its content address and its registry’s digest', async () => {
  engine.answers = [[/^GET \/images\/redis:7\.0\.15\/json/, imageAnswer(ID, null, [DIGEST])]];
  const { images } = await preflight(['redis'], {}, note);
  expect(images.redis).toEqual({ name: 'redis:7.0.15', id: ID, digest: DIGEST, labels: {} });
  expect(engine.asked(/images\/create/)).toEqual([]);
});

it.each([
  ['mirror.example:5000/hub', 'mirror.example:5000/hub/redis:7.0.15'],
  ['mirror', 'mirror/redis:7.0.15'],
])('looks for, pulls and names what a prefix %s makes of the name', async (prefix, name) => {
  process.env['TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX'] = prefix;
  const isPulled = (): boolean => engine.asked(/images\/create/).length > 0;
  engine.answers = [
    [/^GET \/images\/redis:7\.0\.15\/json/, imageAnswer('sha256:another')],
    [/^POST \/images\/create/, (_, response) => { response.end(line({ status: 'done' })); }],
    [/^GET \/images\/mirror.*\/json/, (request, response) => { if (isPulled()) imageAnswer(ID)(request, response); else response.writeHead(404).end('{}'); }],
  ];
  expect((await preflight(['redis'], {}, note)).images.redis).toMatchObject({ name, id: ID });
  expect(engine.asked(/images\/create/).map((what) => new URLSearchParams(what.split('?')[1]).get('fromImage'))).toEqual([name.slice(0, name.lastIndexOf(':'))]);
});

it('a stand-in is in no mirror', async () => {
  process.env['TESTCONTAINERS_HUB_IMAGE_NAME_PREFIX'] = 'mirror.example';
  engine.answers = [[/^GET \/images\/seckill-lab\/redis:7\/json/, imageAnswer(ID)]];
  expect((await preflight(['redis'], {}, note)).images.redis.name).toBe('seckill-lab/redis:7');
});

it('pulls nothing where room is lacking, and says both', async () => {
  // No file system has less room than this one.
  engine.info = { DockerRootDir: '/proc' };
  const error = await preflight(['redis', 'kafka'], {}, note).catch((cause: unknown) => cause as LabError);
  expect(error).toMatchObject({ code: 'MISSING_DEPENDENCY', message: expect.stringMatching(/0 MiB free in \/proc, 2048 MiB needed/) as string });
  expect((error as LabError).details).toHaveLength(2);
  expect(engine.asked(/images\/create/)).toEqual([]);
  expect((await lookAtEngine()).join('\n')).toContain('less than 2 GiB free in /proc');
});

it('tells how far a pull is', async () => {
  engine.answers = [[/^POST \/images\/create/, (_, response) => {
    response.write(line({ id: 'a', status: 'Downloading', progressDetail: { current: 3e6, total: 8e6 } }));
    response.end(line({ id: 'b', status: 'Downloading', progressDetail: { current: 1e6, total: 2e6 } }));
  }]];
  // How late it is at the beginning and at each line: the first comes too early to be told.
  const looks = [0, 1_999, 2_000];
  await pullImage(await reachEngine(), 'redis:7', { onNote: note, nowMs: () => looks.shift() ?? NaN }).catch(() => undefined);
  expect(notes).toEqual(['pulling redis:7', 'pulling redis:7: 4 of 10 MB of 2 layers']);
});

it.each(['answered at all', 'gone on with'])('Ctrl-C ends a pull that is not %s', async (how) => {
  const closed = new Promise<void>((resolve) => {
    engine.answers = [[/^POST \/images\/create/, (_, response) => {
      response.once('close', resolve);
      if (how === 'gone on with') response.write(line({ status: 'Pulling' }));
      setTimeout(() => { abort.abort(new LabError('ABORTED', 'aborted by the user', 'again')); }, 50);
    }]];
  });
  const abort = new AbortController();
  await expect(preflight(['redis'], {}, note, abort.signal)).rejects.toMatchObject({ code: 'ABORTED' });
  await closed;
});

it('a pull of which nothing is heard ends, and is named', async () => {
  engine.answers = [[/^POST \/images\/create/, (_, response) => void response.write(line({ status: 'Pulling' }))]];
  await expect(pullImage(await reachEngine(), 'redis:7', { onNote: note, silenceLimitMs: 200 })).rejects.toThrow(/redis:7 is not on the engine and cannot be pulled: the engine has told nothing of it for 1 s/);
});

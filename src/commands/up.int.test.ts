// up, down and doctor against a real stack, as the command line calls them.
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import type { StackDescription } from '../facts/stack-description.js';
import { askRedis } from '../stack/local/server-readiness.js';
import type { CommandIo } from './command-io.js';
import { runDoctor } from './doctor.js';
import { runDown } from './down.js';
import { runInstall } from './install.js';
import { runUp } from './up.js';

let folder: string;
let stackFile: string;
let out: string;
let err: string;
const io: CommandIo = { stdout: (text) => { out += text; }, stderr: (text) => { err += text; } };

beforeEach(() => {
  folder = mkdtempSync('/tmp/seckill-up-');
  chmodSync(folder, 0o755); // PostgreSQL's user must be able to enter a cache in here
  stackFile = join(folder, 'stack.json');
  out = '';
  err = '';
});
afterEach(async () => {
  await runDown({ stackFile }, io);
  rmSync(folder, { recursive: true });
});

it('up writes the file of a stack that runs on, refuses a second over it, and down ends it, twice', async () => {
  expect(await runUp({ stackFile, lanes: 1 }, io)).toBe(0);
  expect(out).toBe(`${stackFile}\n`);
  const description = JSON.parse(readFileSync(stackFile, 'utf8')) as StackDescription;
  expect(await askRedis(description.direct.redisPrimary, 'PING')).toContain('PONG');

  expect(await runUp({ stackFile }, io)).toBe(254);
  expect(err).toContain('describes a stack that is running');
  expect(await askRedis(description.direct.redisPrimary, 'PING')).toContain('PONG');

  expect(await runDown({ stackFile }, io)).toBe(0);
  expect(await askRedis(description.direct.redisPrimary, 'PING')).toBe('');
  expect(existsSync(description.directory)).toBe(false);
  expect(existsSync(stackFile)).toBe(false);
  err = '';
  expect(await runDown({ stackFile }, io)).toBe(0);
  expect(err).toContain('nothing to end');
});

it('down ends a stack whose reaper was killed, and is content with one that is gone', async () => {
  expect(await runUp({ stackFile }, io)).toBe(0);
  const text = readFileSync(stackFile, 'utf8');
  const description = JSON.parse(text) as StackDescription;
  process.kill(Number(description.reaperPid), 'SIGKILL');
  expect(await runDown({ stackFile }, io)).toBe(0);
  expect(err).toContain('reaper is gone; cleaning up');
  expect(existsSync(description.directory)).toBe(false);
  expect(await askRedis(description.direct.redisPrimary, 'PING')).toBe('');
  writeFileSync(stackFile, text);
  expect(await runDown({ stackFile }, io)).toBe(0);
  expect(err).toContain('had ended already');
});

it('down refuses a file that is no stack file and leaves it alone', async () => {
  writeFileSync(stackFile, '{"some": "file"}');
  expect(await runDown({ stackFile }, io)).toBe(2);
  expect(err).toContain('is no stack file');
  expect(existsSync(stackFile)).toBe(true);
  rmSync(stackFile);
});

it('up ends the stack again when its file cannot be written', async () => {
  writeFileSync(join(folder, 'plain'), '');
  expect(await runUp({ stackFile: join(folder, 'plain', 'stack.json') }, io)).toBe(254);
  expect(err).toContain('cannot be written');
});

it('doctor finds everything where a stack could be started, and an install then has nothing to do', async () => {
  expect(await runDoctor({}, io)).toBe(0);
  expect(out.match(/^found/gm)?.length).toBe(8);
  expect(await runInstall({}, io)).toBe(0);
});

it('doctor names what is missing and the command that mends it', async () => {
  const path = process.env['PATH'];
  const javaHome = process.env['JAVA_HOME'];
  process.env['PATH'] = '/nonexistent';
  process.env['SECKILL_LAB_CACHE'] = join(folder, 'cache');
  Reflect.deleteProperty(process.env, 'JAVA_HOME');
  try {
    expect(await runDoctor({}, io)).toBe(2);
  } finally {
    process.env['PATH'] = path;
    Reflect.deleteProperty(process.env, 'SECKILL_LAB_CACHE');
    if (javaHome !== undefined) process.env['JAVA_HOME'] = javaHome;
  }
  expect([...out.matchAll(/^missing {2}([^:]+):/gm)].map((match) => match[1])).toEqual(['redis-server', 'postgres', 'java', 'toxiproxy', 'kafka jars']);
  expect(out.match(/mend: npx seckill-lab install/g)?.length).toBe(5);
});

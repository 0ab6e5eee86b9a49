// `up` and `down` where a file names a stack of containers, and what would tell of it is gone. Against a stub of the engine.
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { STACK_LABEL } from '../stack/containers/labels.js';
import { json, startStubEngine, type StubEngine } from '../stack/containers/stub-engine.test-support.js';
import { REAPER_SOCKET } from '../stack/local/reaper-protocol.js';
import { runDown } from './down.js';
import { runUp } from './up.js';

let engine: StubEngine;
let folder: string;
let stackFile: string;
let said: string;
let reaper: Server | null;
const io = { stdout: () => undefined, stderr: (text: string) => void (said += text) };

beforeAll(async () => {
  engine = await startStubEngine();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-left-'));
  stackFile = join(folder, 'stack.json');
  said = '';
  reaper = null;
});
afterEach(() => {
  process.env['DOCKER_HOST'] = engine.dockerHost;
  reaper?.close();
  rmSync(folder, { recursive: true });
});
afterAll(() => { engine.close(); });

function describeStack(directory: string): void {
  const place = { host: '127.0.0.1', port: 1 };
  writeFileSync(stackFile, JSON.stringify({
    schemaVersion: 1, provider: 'containers', id: 'one', directory, reaperPid: 2 ** 22 + 7, servers: {}, lanes: [{ index: 0, links: {}, rolePorts: [] }],
    direct: { redisPrimary: place, redisReplica: place, postgres: { ...place, user: 'u', password: 'p' }, kafka: place, toxiproxyApi: place },
  }));
}

it('down removes the containers of a stack whose reaper and folder are gone, as after a reboot', async () => {
  describeStack(join(folder, 'seckill-lab-gone'));
  let isThere = true;
  engine.answers = [
    [/^GET \/containers\/json/, (_, response) => { json(response, 200, isThere ? [{ Id: 'c1', Names: ['/kafka'], Labels: { [STACK_LABEL]: 'one' } }] : []); }],
    [/^DELETE \/containers\/c1/, (_, response) => {
      isThere = false;
      response.writeHead(204).end();
    }],
    [/^GET \/networks/, (_, response) => { json(response, 200, []); }],
    [/^GET \/volumes/, (_, response) => { json(response, 200, { Volumes: null }); }],
  ];
  expect({ code: await runDown({ stackFile }, io), isThere, file: existsSync(stackFile) }).toEqual({ code: 0, isThere: false, file: false });
});

it('down without the engine keeps the file; exit 2', async () => {
  describeStack(join(folder, 'seckill-lab-gone'));
  process.env['DOCKER_HOST'] = 'unix:///nobody.sock';
  expect({ code: await runDown({ stackFile }, io), file: existsSync(stackFile) }).toEqual({ code: 2, file: true });
  expect(said).toContain('no Docker engine answers');
});

it('up does not write over the file of a stack that lives, though its engine cannot be asked', async () => {
  describeStack(folder);
  const before = readFileSync(stackFile, 'utf8');
  reaper = createServer();
  await new Promise<void>((resolve) => reaper?.listen(join(folder, REAPER_SOCKET), resolve));
  process.env['DOCKER_HOST'] = 'unix:///nobody.sock';
  // Lanes that no stack has: whoever goes on from here ends with another error and starts nothing.
  expect(await runUp({ stackFile, lanes: 99 }, io)).toBe(2);
  expect(said).toMatch(/describes a stack that may be running: no Docker engine answers/);
  expect(readFileSync(stackFile, 'utf8')).toBe(before);
});

it.each(['{"no": "stack"}', null])('up goes on over a file of no stack, and over one of a stack that is gone', async (text) => {
  if (text === null) describeStack(join(folder, 'seckill-lab-gone'));
  else writeFileSync(stackFile, text);
  expect(await runUp({ stackFile, lanes: 99 }, io)).toBe(254);
  expect(said).toContain('lanes must be 1 to 10');
});

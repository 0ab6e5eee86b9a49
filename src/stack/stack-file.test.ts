// stack.json: written whole, read with a reason when it is wrong.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import type { StackDescription } from '../facts/stack-description.js';
import { readStackFile, removeStackFile, writeStackFile } from './stack-file.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-file-'));
  file = join(folder, 'sub', 'stack.json');
});
afterEach(() => { rmSync(folder, { recursive: true }); });

const at = { host: '127.0.0.1', port: 1 };
const server = { name: 'kafka', address: at, pid: 1, version: '1', directory: null, logFile: null };
const description = {
  schemaVersion: 1,
  provider: 'local',
  id: 'x',
  startedAt: '2026-01-01T00:00:00.000Z',
  directory: '/nowhere',
  reaperPid: 1,
  servers: { kafka: server },
  direct: { redisPrimary: at, redisReplica: at, postgres: { ...at, user: 'u', password: 'p' }, kafka: at, toxiproxyApi: at },
  replicationProxy: 'replication',
  lanes: [{ index: 0, links: { 'gateway-redis': at }, proxies: { 'gateway-redis': 'p' }, rolePorts: [2] }],
} as unknown as StackDescription;

it('gives back what was written, readable by its owner only', async () => {
  await writeStackFile(file, description);
  expect(await readStackFile(file)).toEqual(description);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, 'sub'))).toEqual(['stack.json']);
  await removeStackFile(file);
  await removeStackFile(file);
  await expect(readStackFile(file)).rejects.toMatchObject({ code: 'STACK_FILE_INVALID', message: expect.stringContaining('there is no stack file') as string });
});

it.each([
  ['not json', 'nonsense'],
  ['another version', JSON.stringify({ ...description, schemaVersion: 2 })],
  ['no lane', JSON.stringify({ ...description, lanes: [] })],
  ['no address', JSON.stringify({ ...description, direct: {} })],
])('refuses %s', async (_, text) => {
  const wrong = join(folder, 'wrong.json');
  writeFileSync(wrong, text);
  await expect(readStackFile(wrong)).rejects.toMatchObject({ code: 'STACK_FILE_INVALID' });
});

it('says that a place cannot be written', async () => {
  writeFileSync(join(folder, 'file'), '');
  await expect(writeStackFile(join(folder, 'file', 'stack.json'), description)).rejects.toMatchObject({ code: 'USAGE' });
});

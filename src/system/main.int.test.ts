/** The entry of a role as a real process, from the build: ready once, SIGTERM is 0, what cannot start is 1 with one line of JSON. */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { afterEach, expect, inject, test } from 'vitest';

import { namespaceOf } from '../domain/namespace.js';
import { DEFAULT_TUNING, type RoleConfig } from '../domain/role-config.js';
import { deleteTopics, ensureTopics } from './order-log/topics.js';

const MAIN = fileURLToPath(new URL('../../dist/system/main.js', import.meta.url));
const stack = inject('stack');
const [lane] = stack.lanes;
if (lane === undefined) throw new Error('the stack has no lane');
const { links, rolePorts } = lane;
const namespace = namespaceOf(`m${randomBytes(6).toString('hex')}`);
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function configOf(role: RoleConfig['role'], port: number): RoleConfig {
  return {
    role, instance: `${role}-1`, namespace, activityId: '7', skuIds: ['70'], listen: { host: '127.0.0.1', port },
    addresses: { redis: links['projector-redis'], kafka: links['projector-kafka'], postgres: stack.direct.postgres },
    strategies: { consumer: 'single', allocator: 'token' }, tuning: DEFAULT_TUNING,
  };
}

function start(config: string | undefined) {
  const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env['PATH'], ...(config === undefined ? {} : { SECKILL_ROLE_CONFIG: config }) }, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, said, ended };
}

test('a role says ready once, serves health, and ends with 0 on SIGTERM', async () => {
  await ensureTopics({ address: stack.direct.kafka, namespace, partitions: 1 });
  const port = rolePorts[0] ?? 0;
  const { child, said, ended } = start(JSON.stringify(configOf('projector', port)));
  await expect.poll(() => said.out, { timeout: 20_000 }).toContain('\n');
  expect(JSON.parse(said.out)).toMatchObject({ ready: true, role: 'projector', instance: 'projector-1', pid: child.pid });
  expect((await fetch(`http://127.0.0.1:${String(port)}/healthz`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(said.out.split('\n')).toHaveLength(2);
  await deleteTopics(stack.direct.kafka, namespace);
});

test.each([
  ['no configuration', undefined, 'SECKILL_ROLE_CONFIG is not set'],
  ['a configuration that is no JSON', '{', 'JSON'],
])('%s: exit 1 and a line of JSON that says so', async (_name, config, text) => {
  const { said, ended } = start(config);
  expect(await ended).toBe(1);
  const line = JSON.parse(said.err.trim().split('\n').at(-1) ?? '') as { level: string; reason: string };
  expect(line.level).toBe('error');
  expect(line.reason).toContain(text);
  expect(said.out).toBe('');
});

/** `stack.json`: the description of a running stack, for `run --stack-file` and `down`. It holds PostgreSQL's password: mode 0600. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import { z } from 'zod';

import { LabError } from '../facts/lab-error.js';
import type { StackDescription } from '../facts/stack-description.js';

export const DEFAULT_STACK_FILE = 'stack.json';

const hostPort = z.object({ host: z.string(), port: z.number().int() });
const server = z.looseObject({ name: z.string(), address: hostPort, pid: z.number().int().nullable() });

/** As much as tells a stack file from any other JSON, and an older version from this one. */
const shape = z.looseObject({
  schemaVersion: z.literal(1),
  provider: z.enum(['local', 'containers', 'external']),
  id: z.string(),
  directory: z.string(),
  reaperPid: z.number().int().nullable(),
  servers: z.record(z.string(), server),
  direct: z.object({
    redisPrimary: hostPort,
    redisReplica: hostPort,
    postgres: hostPort.extend({ user: z.string(), password: z.string() }),
    kafka: hostPort,
    toxiproxyApi: hostPort,
  }),
  lanes: z.array(z.looseObject({ index: z.number().int(), links: z.record(z.string(), hostPort), rolePorts: z.array(z.number().int()) })).min(1),
});

/** LabError STACK_FILE_INVALID when it is missing or is no stack file. */
export async function readStackFile(path: string): Promise<StackDescription> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new LabError('STACK_FILE_INVALID', `there is no stack file ${resolve(path)}`, 'start a stack with `npx seckill-lab up`, or name its file with --stack-file', { cause });
  }
  const parsed = shape.safeParse(jsonOrNull(text));
  if (!parsed.success) {
    const first = parsed.error.issues[0];
    throw new LabError('STACK_FILE_INVALID', `${resolve(path)} is no stack file: ${first === undefined ? 'not JSON' : `${first.path.join('.')} ${first.message}`}`, 'write it anew with `npx seckill-lab up`');
  }
  return parsed.data as unknown as StackDescription;
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whole or not at all: a reader never sees half a file. */
export async function writeStackFile(path: string, description: StackDescription): Promise<void> {
  try {
    await mkdir(dirname(resolve(path)), { recursive: true });
    await writeFile(`${path}.new`, `${JSON.stringify(description, null, 2)}\n`, { mode: 0o600 });
    await rename(`${path}.new`, path);
  } catch (cause) {
    throw new LabError('USAGE', `the stack file ${resolve(path)} cannot be written`, 'name another file with --stack-file', { cause });
  }
}

export async function removeStackFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

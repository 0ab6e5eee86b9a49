// dlq list and replay against a running system, as the command line calls them: every replay once, whatever is repeated.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';

import { message } from '../system/ledger/ledger-case.test-support.js';
import { loadStatements } from '../system/ledger/sql-loader.js';
import { openDeadLetterCase, type DeadLetterCase } from '../system/recovery/dead-letter-case.test-support.js';
import { replayDeadLetter, type OriginalMessage } from '../system/recovery/dead-letter-replay.js';
import type { CommandIo } from './command-io.js';
import { runDlqList, runDlqReplay } from './dlq.js';

let folder: string;
let stackFile: string;
let out: string;
let err: string;
const io: CommandIo = { stdout: (text) => { out += text; }, stderr: (text) => { err += text; } };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-dlq-'));
  stackFile = join(folder, 'stack.json');
  writeFileSync(stackFile, JSON.stringify(inject('stack')));
  out = '';
  err = '';
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const until = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 30_000, interval: 100 });

/** Two open letters: a refused message that nobody knows, and one that is none. */
async function withTwoLetters(here: DeadLetterCase): Promise<string> {
  await here.refuseBad();
  for (const role of ['consumer', 'undertaker'] as const) await here.start(role);
  await here.produce([message({ requestId: 'bad-1' }), 'no message']);
  await until(async () => { expect(await here.fresh.count('dead_letter')).toBe(2); });
  return here.fresh.config.namespace.id;
}

test('list tells what is open, replay sends it again once, and the second replay does nothing', async () => {
  await using here = await openDeadLetterCase(10);
  const namespace = await withTwoLetters(here);
  const id = `${namespace}.orders/0/0`;

  expect(await runDlqList({ stackFile, namespace }, io)).toBe(0);
  expect(out).toContain('2 dead letters (open)');
  expect(out).toContain(`${id}  OPEN  REFUSED after 3 tries`);
  expect(out).toContain('0 reservations wait for a human');

  await here.allowBad();
  out = '';
  expect(await runDlqReplay({ stackFile, namespace, id: [id] }, io)).toBe(0);
  expect(out).toContain('1 sent again, 0 left alone');
  await until(async () => { expect(await here.fresh.count('orders', "request_id = 'bad-1'")).toBe(1); });

  out = '';
  expect(await runDlqReplay({ stackFile, namespace, id: [id, id] }, io)).toBe(0);
  expect(out).toContain('0 sent again, 1 left alone');
  out = '';
  expect(await runDlqList({ stackFile, namespace, status: 'replayed', json: true }, io)).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ deadLetters: [{ id, status: 'REPLAYED', resolution: 'REPLAYED', reservationStatus: 10 }], manualRequired: [] });
});

test('what is still poison becomes a letter of its own; --all takes only what is open', async () => {
  await using here = await openDeadLetterCase(10);
  const namespace = await withTwoLetters(here);
  expect(await runDlqReplay({ stackFile, namespace, all: true }, io)).toBe(0);
  expect(out).toContain('2 sent again');
  await until(async () => { expect(await here.fresh.count('dead_letter', 'status = 0')).toBe(2); });
  const replays = (await here.letters()).filter(({ headers }) => headers['replay-of'] !== undefined);
  expect(replays.map(({ headers, originOffset }) => [headers['replay-of'], originOffset])).toEqual(expect.arrayContaining([[`${namespace}.orders/0/0`, '2'], [`${namespace}.orders/0/1`, '3']]));
  expect(await here.fresh.count('orders')).toBe(0);
});

test('a replay that dies after its send leaves the letter open; sent again, its effect is single', async () => {
  await using here = await openDeadLetterCase(10);
  const namespace = await withTwoLetters(here);
  await here.allowBad();
  const id = `${namespace}.orders/0/0`;
  const dying = async ({ value }: OriginalMessage): Promise<void> => {
    await here.produce([value?.toString() ?? '']);
    throw new Error('killed here');
  };
  await expect(replayDeadLetter(here.fresh.client, loadStatements(), id, dying)).rejects.toThrow('killed here');
  expect(await runDlqReplay({ stackFile, namespace, id: [id] }, io)).toBe(0);
  expect(out).toContain('1 sent again');
  await here.produce([message({ requestId: 'last' })]);
  await until(async () => { expect(await here.fresh.count('orders', "request_id = 'last'")).toBe(1); });
  expect([await here.fresh.count('orders'), await here.fresh.held(), await here.fresh.count('consumer_inbox')]).toEqual([2, 2, 2]);
});

test.each([
  [{}, 254, '--namespace is missing'],
  [{ namespace: 'NO' }, 254, 'is 1 to 24 of a-z and 0-9'],
  [{ namespace: 'nosuchthing' }, 254, 'the stack has no namespace nosuchthing'],
  [{ namespace: 'x', stackFile: '/nowhere/stack.json' }, 2, 'there is no stack file /nowhere/stack.json'],
  [{ namespace: 'x', status: 'lost' }, 254, '--status lost: is one of open replayed closed all'],
])('list %j: exit %i, %s', async (options, code, text) => {
  expect(await runDlqList({ stackFile, ...options }, io)).toBe(code);
  expect(err).toContain(text);
  expect(out).toBe('');
});

test('replay wants an id or all, and refuses an id that is none', async () => {
  await using here = await openDeadLetterCase(1);
  const namespace = here.fresh.config.namespace.id;
  expect(await runDlqReplay({ stackFile, namespace }, io)).toBe(254);
  expect(await runDlqReplay({ stackFile, namespace, id: ['a'], all: true }, io)).toBe(254);
  expect(await runDlqReplay({ stackFile, namespace, id: ['a/0/1'] }, io)).toBe(254);
  expect(err).toContain('there is no dead letter a/0/1');
});

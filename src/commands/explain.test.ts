/** `explain` tells a unit's story from saved files, by any id that a reader may have. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { ExitCode } from '../exit-codes.js';
import { LIVES } from '../invariants/broken-world.test-support.js';
import { reservationsOfToken } from '../invariants/find-subject.js';
import { postgresOf } from '../invariants/indexes.js';
import { createRunFolder } from '../report/run-folder.js';
import type { CommandIo } from './command-io.js';
import { runExplain } from './explain.js';

let base: string;
let directory: string;
let out: string;
const io: CommandIo = { stdout: (text) => { out += text; }, stderr: () => undefined };

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'explain-'));
  out = '';
  const store = await createRunFolder(base, 'hand-written', '2026-01-02T03:04:05.678Z', 42);
  directory = store.directory;
  await store.saveFacts(LIVES);
  // The clients' side is left out: what is missing has to be told, and the rest still is.
  await writeFile(join(directory, 'history.ndjson'), '');
});
afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

const { orders, tokens } = postgresOf(LIVES);

it.each([['reservation', orders[0]?.reservationId], ['order', orders[0]?.orderId], ['message', orders[0]?.sourceMessageId], ['user', orders[0]?.userId], ['request', orders[0]?.requestId]])('finds the order by its %s', async (kind, id) => {
  expect(await runExplain(directory, String(id), {}, io)).toBe(ExitCode.green);
  expect(out).toContain(`${kind} ${String(id)}`);
  for (const source of ['redis', 'kafka', 'postgres', 'commit-log']) expect(out).toContain(` ${source} `);
  expect(out).toContain(`order row ${String(orders[0]?.orderId)}`);
  expect(out).toContain('note: the client history is incomplete');
});

it('tells of everybody who had a unit in turn', async () => {
  const resold = tokens.find((token) => reservationsOfToken(LIVES, token.tokenId).length > 1);
  if (resold === undefined) throw new Error('no token of this world was sold twice');
  await runExplain(directory, resold.tokenId, { as: 'token' }, io);
  for (const owner of reservationsOfToken(LIVES, resold.tokenId)) expect(out).toContain(`reservation ${owner}`);
});

it('says of an unknown id which ones there are', async () => {
  await expect(runExplain(directory, 'nobody', {}, io)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('knows no') as string });
  await expect(runExplain(directory, String(orders[0]?.orderId), { as: 'unit' }, io)).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining('no such kind') as string });
});

it('prints a document', async () => {
  await runExplain(directory, String(orders[0]?.orderId), { json: true, as: 'order' }, io);
  expect(JSON.parse(out)).toMatchObject({ schemaVersion: 1, chapters: [{ kind: 'order', id: orders[0]?.orderId }] });
});

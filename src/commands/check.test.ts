/** `check` says of saved files what the judges said of the facts, in text and as the schema's document; `list` knows every registry. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { expandArrivalPlan } from '../facts/arrival-plan.js';
import { checksumRows, emptyColumns, encodeHistoryHeader, encodeHistoryRows, encodeHistoryTrailer, encodeStormEnd, encodeTellingsEnd } from '../facts/history-file.js';
import { measureGenerator } from '../facts/load-honesty.js';
import type { RunVerdict } from '../facts/verdict.js';
import { judgeFacts } from '../lab/judge.js';
import { readHistory } from '../load/read-history.js';
import { readFacts } from '../report/read-facts.js';
import { createRunFolder } from '../report/run-folder.js';
import { SAMPLE_FACTS, SAMPLE_GENERATOR } from '../report/sample-run.test-support.js';
import { runCheck } from './check.js';
import type { CommandIo } from './command-io.js';
import { runList } from './list.js';

let base: string;
let out: string;
let err: string;
const io: CommandIo = { stdout: (text) => { out += text; }, stderr: (text) => { err += text; } };

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'check-'));
  out = '';
  err = '';
});
afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

async function savedRun(): Promise<string> {
  const store = await createRunFolder(base, 'hot-sku', '2026-01-02T03:04:05.678Z', 42);
  const plan = expandArrivalPlan(SAMPLE_FACTS.run.load);
  const columns = emptyColumns(plan.length);
  for (const [index, due] of plan.dueUs.entries()) columns.intendedUs[index] = 5 + due;
  const rows = encodeHistoryRows(columns, 0, columns.length);
  await writeFile(join(store.directory, 'history.bin'), Buffer.concat([encodeHistoryHeader(columns.length, 5), rows, encodeHistoryTrailer(columns.length, checksumRows(rows))]));
  await writeFile(join(store.directory, 'history.ndjson'), encodeStormEnd(measureGenerator(columns, SAMPLE_GENERATOR)) + encodeTellingsEnd({ tellings: 0, finalPollsDone: true, finalPollsUnanswered: 0 }));
  await store.saveFacts({ ...SAMPLE_FACTS, history: { present: true, value: await readHistory(store.directory, SAMPLE_FACTS.run.load) } });
  return store.directory;
}

describe('check', () => {
  it('prints the document of the judges alone on stdout, and leaves with its code', async () => {
    const directory = await savedRun();
    const code = await runCheck(directory, { json: true }, io);
    const verdict = JSON.parse(out) as RunVerdict;
    const judged = judgeFacts(await readFacts(directory, readHistory), { id: 'hot-sku/20260102T030405Z-42', startedAt: '2023-11-14T22:13:20.000Z', directory });
    expect(verdict).toEqual(judged);
    expect(code).toBe(judged.exitCode);
    expect(err).toContain('manifest.json is missing');
    const schema = JSON.parse(readFileSync(new URL('../../schema/verdict.schema.json', import.meta.url), 'utf8')) as object;
    const validate = new Ajv2020({ allowUnionTypes: true }).compile(schema);
    expect(validate(verdict), JSON.stringify(validate.errors)).toBe(true);
  });

  it('tells of facts that were changed, and writes nothing', async () => {
    const directory = await savedRun();
    await writeFile(join(directory, 'facts/postgres-orders.ndjson'), '');
    const index = await readFile(join(directory, 'facts/index.json'), 'utf8');
    await runCheck(directory, {}, io);
    expect(out).toContain('note: facts/postgres-orders.ndjson was changed after the run');
    expect(out.trimEnd().split('\n').at(-1)).toContain(`report ${directory}`);
    expect(await readFile(join(directory, 'facts/index.json'), 'utf8')).toBe(index);
    await expect(readFile(join(directory, 'verdict.json'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('refuses what is no run folder', async () => {
    await expect(runCheck(join(base, 'nothing'), {}, io)).rejects.toMatchObject({ code: 'NOT_A_RUN_FOLDER', kind: 'usage' });
    expect(out).toBe('');
  });
});

describe('list', () => {
  it('names scenarios with their faults, faults with an example, invariants with their meaning', () => {
    expect(runList({}, io)).toBe(0);
    for (const name of ['hot-sku', 'with kill-role@', 'pg-outage', 'such as --fault ', 'no-oversell', '--mutant inbox-off: caught by inbox-once']) expect(out).toContain(name);
    expect(out.endsWith('\n')).toBe(true);
  });

  it('is one JSON document with --json', () => {
    runList({ json: true }, io);
    const listed = JSON.parse(out) as Record<string, { name: string }[]>;
    expect(Object.keys(listed)).toEqual(expect.arrayContaining(['scenarios', 'faults', 'invariants', 'mutants']));
    expect(listed['invariants']?.map((entry) => entry.name)).toContain('no-lost-reservation');
  });
});

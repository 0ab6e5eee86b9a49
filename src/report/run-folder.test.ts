/** The run folder: saved facts come back as they were, and damage is never mistaken for an empty list. */
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Facts } from '../facts/facts.js';
import { checksumRows, emptyColumns, encodeHistoryHeader, encodeHistoryRows, encodeHistoryTrailer, encodeStormEnd, encodeTellingsEnd } from '../facts/history-file.js';
import { LabError } from '../facts/lab-error.js';
import { expandArrivalPlan } from '../facts/arrival-plan.js';
import { measureGenerator } from '../facts/load-honesty.js';
import { readHistory } from '../load/read-history.js';
import { changesSinceRun } from './facts-index.js';
import { readFacts as readFactsWith, readManifest } from './read-facts.js';
import { createRunFolder, runFolderName } from './run-folder.js';
import { ROW_FILES } from './run-layout.js';
import { SAMPLE_FACTS, SAMPLE_GENERATOR, SAMPLE_VERDICT } from './sample-run.test-support.js';

let base: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'run-folder-'));
});
afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

const readFacts = (directory: string): Promise<Facts> => readFactsWith(directory, readHistory);
const columns = emptyColumns(10);
const dueUs = expandArrivalPlan(SAMPLE_FACTS.run.load).dueUs;
for (const [index, due] of dueUs.entries()) columns.intendedUs[index] = 5 + due;
const GENERATOR = measureGenerator(columns, SAMPLE_GENERATOR);

async function writeHistory(directory: string): Promise<void> {
  const rows = encodeHistoryRows(columns, 0, columns.length);
  await writeFile(join(directory, 'history.bin'), Buffer.concat([encodeHistoryHeader(10, 5), rows, encodeHistoryTrailer(10, checksumRows(rows))]));
  await writeFile(join(directory, 'history.ndjson'), encodeStormEnd(GENERATOR) + encodeTellingsEnd({ tellings: 0, finalPollsDone: true, finalPollsUnanswered: 0 }));
}

const HISTORY: Facts['history'] = { present: true, value: { columns, tellings: [], payerTellings: [], generator: GENERATOR, complete: true, problems: [] } };
const FACTS: Facts = { ...SAMPLE_FACTS, history: HISTORY };

async function savedRun(facts: Facts = FACTS): Promise<string> {
  const store = await createRunFolder(base, 'hot-sku', '2026-01-02T03:04:05.678Z', 42);
  await writeHistory(store.directory);
  await store.saveFacts(facts);
  return store.directory;
}

function reasonOf(evidence: { readonly present: boolean; readonly reason?: string }): string {
  expect(evidence.present).toBe(false);
  return evidence.reason ?? '';
}

describe('createRunFolder', () => {
  it('names the folder by UTC second and seed and never reuses one', async () => {
    const first = await createRunFolder(base, 'hot-sku', new Date('2026-01-02T03:04:05.678Z'), 42);
    const second = await createRunFolder(base, 'hot-sku', '2026-01-02T03:04:05.999Z', 42);
    expect(first.directory).toBe(join(base, 'hot-sku', '20260102T030405Z-42'));
    expect(second.directory).toBe(join(base, 'hot-sku', '20260102T030405Z-42-2'));
    expect((await stat(join(first.directory, 'logs'))).isDirectory()).toBe(true);
  });

  it('refuses a base that is no folder', async () => {
    const file = join(base, 'file');
    await writeFile(file, '');
    await expect(createRunFolder(file, 'hot-sku', new Date(), 1)).rejects.toMatchObject({ code: 'REPORT_FOLDER_UNUSABLE', kind: 'usage' });
  });

  it('refuses a folder in which nothing can be made', async () => {
    await expect(createRunFolder('/proc/self', 'hot-sku', new Date(), 1)).rejects.toBeInstanceOf(LabError);
  });

  it('writes one line per event', async () => {
    const store = await createRunFolder(base, 'hot-sku', new Date(), 1);
    store.appendEvent({ kind: 'note', text: 'a\nb', atUs: 1 });
    store.appendEvent({ kind: 'stage', stage: 'storm', state: 'begin', atUs: 2 });
    const lines = (await readFile(join(store.directory, 'events.ndjson'), 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual(['note', 'stage']);
  });

  it('keeps a lost event until the verdict is saved', async () => {
    const store = await createRunFolder(base, 'hot-sku', new Date(), 1);
    await rm(join(store.directory, 'events.ndjson'));
    await mkdir(join(store.directory, 'events.ndjson'));
    expect(() => { store.appendEvent({ kind: 'note', text: 'lost', atUs: 1 }); }).not.toThrow();
    await expect(store.saveVerdict(SAMPLE_VERDICT, FACTS)).rejects.toMatchObject({ code: 'REPORT_FOLDER_UNUSABLE' });
  });
});

describe('facts round trip', () => {
  it('reads back every kind of evidence as it was', async () => {
    expect(await readFacts(await savedRun())).toEqual(FACTS);
  });

  it('keeps the harvest’s reason of missing evidence', async () => {
    const facts: Facts = { ...FACTS, redis: { present: false, reason: 'Redis did not answer' }, settle: { present: false, reason: 'aborted' } };
    expect(await readFacts(await savedRun(facts))).toEqual(facts);
  });

  it('keeps any text, number and null in rows', async () => {
    const text = fc.string({ unit: 'binary' });
    const row = fc.record({
      paymentId: text, orderId: text, status: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)), amount: text,
      provider: text, tradeNo: fc.option(text), callbackId: fc.option(text), currency: text, paidAtUs: fc.option(fc.nat()), createdAtUs: fc.nat(), version: fc.nat(),
    });
    const change = fc.record({ table: text, kind: fc.constantFrom('insert' as const, 'update' as const, 'delete' as const), row: fc.dictionary(text, fc.option(text)) });
    const transaction = fc.record({ xid: fc.nat(), lsn: text, committedAtUs: fc.nat(), changes: fc.array(change) });
    await fc.assert(
      fc.asyncProperty(fc.array(row), fc.array(transaction), async (payments, transactions) => {
        const postgres = FACTS.postgres.present ? { ...FACTS.postgres.value, payments } : null;
        if (postgres === null) throw new Error('the sample has PostgreSQL facts');
        const facts: Facts = { ...FACTS, postgres: { present: true, value: postgres }, commitLog: { present: true, value: { transactions } } };
        const read = await readFacts(await savedRun(facts));
        // Dictionaries from JSON have a prototype; equality of contents is what matters.
        expect(JSON.stringify([read.postgres, read.commitLog])).toBe(JSON.stringify([facts.postgres, facts.commitLog]));
      }),
      { numRuns: 25 },
    );
  });

  it('reads its own manifest', async () => {
    const store = await createRunFolder(base, 'hot-sku', new Date(), 42);
    const manifest = {
      schemaVersion: 1 as const, runId: 'hot-sku/x', scenario: 'hot-sku', seed: 42, startedAt: '2026-01-02T03:04:05.678Z', argv: ['run'], git: { sha: null, dirty: null },
      versions: { node: '20' }, machine: { cpus: 2 }, options: { rate: 10 }, load: FACTS.run.load, clockAtStart: FACTS.run.clock.atStart, stack: null,
      plan: { schemaVersion: 1 as const, scenario: 'hot-sku', seed: 42, options: { rate: 10 }, faults: [] },
    };
    await store.saveManifest(manifest);
    expect(await readManifest(store.directory)).toEqual(manifest);
  });
});

describe('damage', () => {
  const allRowFiles = [ROW_FILES.redisRecords, ROW_FILES.redisUsers, ROW_FILES.kafkaOrders, ROW_FILES.kafkaEvents, ROW_FILES.commitLog, ROW_FILES.faults, ...Object.values(ROW_FILES.postgres)].map((file) => file.path);
  const documents = ['facts/settle.json', 'facts/metrics.json', 'facts/redis.json', 'facts/kafka.json'];

  it.each([...allRowFiles, ...documents])('%s gone is missing evidence that names the file', async (path) => {
    const directory = await savedRun();
    await rm(join(directory, path));
    const facts = await readFacts(directory);
    const missing = Object.values(facts).filter((evidence: { present?: boolean }) => evidence.present === false) as { reason: string }[];
    expect(missing).toHaveLength(1);
    expect(missing[0]?.reason).toContain(`${path} is missing`);
  });

  it.each([...allRowFiles, ...documents])('%s cut in the middle of its last line is missing evidence', async (path) => {
    const directory = await savedRun();
    await truncate(join(directory, path), (await stat(join(directory, path))).size - 3);
    const facts = await readFacts(directory);
    const missing = Object.values(facts).filter((evidence: { present?: boolean }) => evidence.present === false) as { reason: string }[];
    expect(missing).toHaveLength(1);
    expect(missing[0]?.reason).toContain(path);
  });

  it('a row without a field, or with another kind in it, is named by line', async () => {
    const directory = await savedRun();
    const path = join(directory, 'facts/postgres-payments.ndjson');
    await appendFile(path, '{"paymentId":"2","orderId":"7","status":20}\n');
    expect(reasonOf((await readFacts(directory)).postgres)).toBe('facts/postgres-payments.ndjson line 2 has no provider');
    await writeFile(path, '{"paymentId":"2","orderId":"7","status":"20","amount":"1"}\n');
    expect(reasonOf((await readFacts(directory)).postgres)).toBe('facts/postgres-payments.ndjson line 1 has a status that is no number');
  });

  it('a change of the commit log without its row is named', async () => {
    const directory = await savedRun();
    await writeFile(join(directory, 'facts/commit-log.ndjson'), '{"xid":1,"lsn":"0/1","committedAtUs":1,"changes":[{"table":"orders","kind":"insert"}]}\n');
    expect(reasonOf((await readFacts(directory)).commitLog)).toContain('has a change that has no row');
  });

  it.each(['history.bin', 'history.ndjson'])('%s gone is an incomplete history that says so', async (path) => {
    const directory = await savedRun();
    await rm(join(directory, path));
    const history = (await readFacts(directory)).history;
    expect(history.present && history.value.complete).toBe(false);
    expect(history.present && history.value.problems.join()).toContain(`${path} is missing`);
  });

  it('a history that the file system does not give is missing evidence', async () => {
    const directory = await savedRun();
    await rm(join(directory, 'history.bin'));
    await mkdir(join(directory, 'history.bin'));
    expect(reasonOf((await readFacts(directory)).history)).toContain('EISDIR');
  });

  it('history cut short is an incomplete history, not a shorter one', async () => {
    const directory = await savedRun();
    await truncate(join(directory, 'history.bin'), 32 + 48 * 4 + 7);
    const history = (await readFacts(directory)).history;
    expect(history.present && history.value.complete).toBe(false);
    expect(history.present && history.value.columns.length).toBe(10);
  });

  it('a deleted line is judged as it is, and told as a note', async () => {
    const directory = await savedRun();
    await writeFile(join(directory, 'facts/postgres-orders.ndjson'), '');
    const facts = await readFacts(directory);
    expect(facts.postgres.present && facts.postgres.value.orders).toEqual([]);
    expect(await changesSinceRun(directory)).toEqual(['facts/postgres-orders.ndjson was changed after the run (1 rows were saved)']);
  });

  it('untouched facts have no notes, and facts without an index can be judged', async () => {
    const directory = await savedRun();
    expect(await changesSinceRun(directory)).toEqual([]);
    await rm(join(directory, 'facts/index.json'));
    expect(await readFacts(directory)).toEqual(FACTS);
    expect(await changesSinceRun(directory)).toHaveLength(1);
  });

  it('tells a folder that is none from a run that did not get far', async () => {
    await expect(readFacts(join(base, 'nowhere'))).rejects.toMatchObject({ code: 'NOT_A_RUN_FOLDER', kind: 'usage' });
    await expect(readFacts(base)).rejects.toMatchObject({ code: 'NOT_A_RUN_FOLDER' });
    const directory = await savedRun();
    await writeFile(join(directory, 'manifest.json'), '{}');
    await truncate(join(directory, 'facts/run.json'), 20);
    await expect(readFacts(directory)).rejects.toMatchObject({ code: 'HARVEST_FAILED', kind: 'unusable' });
  });
});

describe('runFolderName', () => {
  it('has no character that a shell minds', () => {
    expect(runFolderName(new Date(0), 1)).toMatch(/^[0-9TZ]+-1$/);
  });
});

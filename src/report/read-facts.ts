/**
 * Files → facts, the exact inverse of `save-facts.ts`: the judges see the same value in a run and in `seckill-lab check`.
 *
 * What is missing or damaged becomes missing evidence with its reason. Only `facts/run.json` cannot be done without: without it
 * nobody knows what was promised.
 */
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { ChannelBooks } from '../facts/channel-books.js';
import type { Facts, MetricsFacts, RunFacts, SettleFacts } from '../facts/facts.js';
import type { HistoryFacts } from '../facts/history.js';
import type { LoadSpec } from '../facts/load-spec.js';
import { LabError } from '../facts/lab-error.js';
import type { Manifest } from '../facts/run-store.js';
import type { CommitLogFacts, Evidence, KafkaFacts, PostgresFacts, RedisFacts, RowChange } from '../facts/store-facts.js';
import { missing, readDocument, readRows, shapeProblem, together, type ShapeOf } from './evidence-file.js';
import { readFactsIndex, type EvidenceName } from './facts-index.js';
import { decodeMetrics } from './metrics-document.js';
import { FACT_DOCUMENTS, ROW_FILES, RUN_FILES, type RowFile } from './run-layout.js';

const RUN_SHAPE: ShapeOf<RunFacts> = {
  scenario: 'string', namespace: 'object', load: 'object', stock: 'number', strategies: 'object', rules: 'object', admission: 'object?',
  failClosed: 'object', waitingRoom: 'object?', inboxRetentionMs: 'number?', clock: 'object', clockSkews: 'array', invariants: 'array', serviceLevels: 'array', shows: 'array',
};
const SETTLE_SHAPE: ShapeOf<SettleFacts> = {
  healedUs: 'number', drainedUs: 'number?', boundMs: 'number', open: 'array', quiesced: 'boolean', quiesceProblems: 'array',
};
/** An older manifest does not tell of the stack, and nobody here asks. */
const MANIFEST_SHAPE: ShapeOf<Omit<Manifest, 'stack'>> = {
  schemaVersion: 'number', runId: 'string', scenario: 'string', seed: 'number', startedAt: 'string', argv: 'array', git: 'object',
  versions: 'object', machine: 'object', options: 'object', load: 'object', plan: 'object', clockAtStart: 'object',
};
const REDIS_REST: ShapeOf<Omit<RedisFacts, 'records' | 'users' | 'permits'>> = { stock: 'number?', meta: 'object', pending: 'array', problems: 'array', runId: 'string' };
type KafkaRest = Omit<KafkaFacts, 'orders' | 'events' | 'closes' | 'deadLetters'>;
const KAFKA_REST: ShapeOf<KafkaRest> = {
  malformed: 'array', ordersBounds: 'array', eventsBounds: 'array', closesBounds: 'array', deadLettersBounds: 'array',
};
const CHANGE_SHAPE: ShapeOf<RowChange> = { table: 'string', kind: 'string', row: 'object' };

const rowsOf = <Row>(directory: string, file: RowFile<Row>): Promise<Evidence<readonly Row[]>> => readRows<Row>(directory, file.path, file.shape);

async function readRun(directory: string): Promise<RunFacts> {
  const run = await readDocument<RunFacts>(directory, FACT_DOCUMENTS.run, RUN_SHAPE);
  if (run.present) return run.value;
  const isFolder = await stat(directory).then((found) => found.isDirectory(), () => false);
  const begun = isFolder && (await access(join(directory, RUN_FILES.manifest)).then(() => true, () => false));
  if (begun) {
    throw new LabError('HARVEST_FAILED', `this run cannot be judged: ${run.reason}`, `Look into ${join(directory, RUN_FILES.events)} for how far it came, and run the scenario again.`);
  }
  throw new LabError('NOT_A_RUN_FOLDER', `${directory} is not a run folder: ${isFolder ? run.reason : 'there is no such folder'}`, 'Name a folder like reports/hot-sku/20260102T030405Z-42.');
}

async function readMetrics(directory: string): Promise<Evidence<MetricsFacts>> {
  const stored = await readDocument<Readonly<Record<string, unknown>>>(directory, FACT_DOCUMENTS.metrics, {});
  if (!stored.present) return stored;
  const metrics = decodeMetrics(stored.value);
  return metrics === null ? missing(`${FACT_DOCUMENTS.metrics} holds something that is no metric`) : { present: true, value: metrics };
}

async function readRedis(directory: string): Promise<Evidence<RedisFacts>> {
  const found = together({
    rest: await readDocument<Omit<RedisFacts, 'records' | 'users' | 'permits'>>(directory, FACT_DOCUMENTS.redis, REDIS_REST),
    records: await rowsOf(directory, ROW_FILES.redisRecords),
    users: await rowsOf(directory, ROW_FILES.redisUsers),
    permits: await rowsOf(directory, ROW_FILES.redisPermits),
  });
  if (!found.present) return found;
  return { present: true, value: { ...found.value.rest, records: found.value.records, users: found.value.users, permits: found.value.permits } };
}

async function readKafka(directory: string): Promise<Evidence<KafkaFacts>> {
  const found = together({
    rest: await readDocument<KafkaRest>(directory, FACT_DOCUMENTS.kafka, KAFKA_REST),
    orders: await rowsOf(directory, ROW_FILES.kafkaOrders),
    events: await rowsOf(directory, ROW_FILES.kafkaEvents),
    closes: await rowsOf(directory, ROW_FILES.kafkaCloses),
    deadLetters: await rowsOf(directory, ROW_FILES.kafkaDeadLetters),
  });
  if (!found.present) return found;
  const { rest, ...rows } = found.value;
  return { present: true, value: { ...rest, ...rows } };
}

async function readPostgres(directory: string): Promise<Evidence<PostgresFacts>> {
  const files = ROW_FILES.postgres;
  return together({
    orders: await rowsOf(directory, files.orders),
    reservations: await rowsOf(directory, files.reservations),
    inventory: await rowsOf(directory, files.inventory),
    tokens: await rowsOf(directory, files.tokens),
    ledger: await rowsOf(directory, files.ledger),
    inbox: await rowsOf(directory, files.inbox),
    outbox: await rowsOf(directory, files.outbox),
    compensations: await rowsOf(directory, files.compensations),
    payments: await rowsOf(directory, files.payments),
    unmatchedPayments: await rowsOf(directory, files.unmatchedPayments),
    deadLetters: await rowsOf(directory, files.deadLetters),
    itemMismatches: await rowsOf(directory, files.itemMismatches),
  });
}

async function readChannel(directory: string): Promise<Evidence<ChannelBooks>> {
  return together({ charges: await rowsOf(directory, ROW_FILES.channelCharges), refunds: await rowsOf(directory, ROW_FILES.channelRefunds) });
}

async function readCommitLog(directory: string): Promise<Evidence<CommitLogFacts>> {
  const { path, shape } = ROW_FILES.commitLog;
  const transactions = await readRows(directory, path, shape, (transaction) => {
    for (const change of transaction.changes) {
      const problem = shapeProblem(change, CHANGE_SHAPE);
      if (problem !== null) return `has a change that ${problem}`;
    }
    return null;
  });
  return transactions.present ? { present: true, value: { transactions: transactions.value } } : transactions;
}

/** Reads the client history of a run folder; `src/load/read-history.ts`, which this folder may not import. The one the run itself was judged by. */
export type HistoryReader = (directory: string, load: LoadSpec) => Promise<HistoryFacts>;

async function historyEvidence(directory: string, load: LoadSpec, read: HistoryReader): Promise<Evidence<HistoryFacts>> {
  try {
    return { present: true, value: await read(directory, load) };
  } catch (error) {
    return missing(`the client history cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Reads a run folder. Rejects with `LabError` NOT_A_RUN_FOLDER, or HARVEST_FAILED when the run ended before its facts were saved. */
export async function readFacts(directory: string, readHistory: HistoryReader): Promise<Facts> {
  const run = await readRun(directory);
  const index = await readFactsIndex(directory);
  /** The harvest's own reason comes first: it tells more than "the file is missing". */
  const unlessAbsent = async <Value>(name: EvidenceName, read: (folder: string) => Promise<Evidence<Value>>): Promise<Evidence<Value>> => {
    const reason = index?.absent[name];
    return reason === undefined ? read(directory) : missing(reason);
  };
  return {
    run,
    history: await historyEvidence(directory, run.load, readHistory),
    redis: await unlessAbsent('redis', readRedis),
    kafka: await unlessAbsent('kafka', readKafka),
    postgres: await unlessAbsent('postgres', readPostgres),
    commitLog: await unlessAbsent('commitLog', readCommitLog),
    faults: await unlessAbsent('faults', (folder) => rowsOf(folder, ROW_FILES.faults)),
    settle: await unlessAbsent('settle', (folder) => readDocument<SettleFacts>(folder, FACT_DOCUMENTS.settle, SETTLE_SHAPE)),
    metrics: await unlessAbsent('metrics', readMetrics),
    channel: await unlessAbsent('channel', readChannel),
    lottery: await unlessAbsent('lottery', (folder) => rowsOf(folder, ROW_FILES.lottery)),
  };
}

/** The manifest of a run, or null when it is missing or damaged. */
export async function readManifest(directory: string): Promise<Manifest | null> {
  const manifest = await readDocument<Omit<Manifest, 'stack'>>(directory, RUN_FILES.manifest, MANIFEST_SHAPE);
  return manifest.present ? { stack: null, ...manifest.value } : null;
}

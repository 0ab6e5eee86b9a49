/** Facts → files, everything but the history, which the generator has written by itself. The inverse is `read-facts.ts`. */
import type { Facts } from '../facts/facts.js';
import { EVIDENCE_NAMES, type EvidenceName, type FactsIndex, type SavedFile } from './facts-index.js';
import { encodeMetrics } from './metrics-document.js';
import { FACT_DOCUMENTS, ROW_FILES } from './run-layout.js';
import { writeDocument, writeRows } from './write-file.js';

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Writes every present piece of evidence, and the reasons of the absent ones into the index last. */
export async function saveFacts(directory: string, facts: Facts): Promise<void> {
  const files: SavedFile[] = [];
  const document = async (path: string, value: unknown): Promise<void> => {
    files.push(await writeDocument(directory, path, pretty(value)));
  };
  const rows = async (path: string, values: readonly unknown[]): Promise<void> => {
    files.push(await writeRows(directory, path, values));
  };
  await document(FACT_DOCUMENTS.run, facts.run);
  if (facts.settle.present) await document(FACT_DOCUMENTS.settle, facts.settle.value);
  if (facts.metrics.present) await document(FACT_DOCUMENTS.metrics, encodeMetrics(facts.metrics.value));
  if (facts.faults.present) await rows(ROW_FILES.faults.path, facts.faults.value);
  if (facts.redis.present) {
    const { records, users, permits, ...rest } = facts.redis.value;
    await document(FACT_DOCUMENTS.redis, rest);
    await rows(ROW_FILES.redisRecords.path, records);
    await rows(ROW_FILES.redisUsers.path, users);
    await rows(ROW_FILES.redisPermits.path, permits);
  }
  if (facts.kafka.present) {
    const { orders, events, closes, deadLetters, ...rest } = facts.kafka.value;
    await document(FACT_DOCUMENTS.kafka, rest);
    await rows(ROW_FILES.kafkaOrders.path, orders);
    await rows(ROW_FILES.kafkaEvents.path, events);
    await rows(ROW_FILES.kafkaCloses.path, closes);
    await rows(ROW_FILES.kafkaDeadLetters.path, deadLetters);
  }
  if (facts.postgres.present) {
    const tables = facts.postgres.value;
    for (const name of Object.keys(ROW_FILES.postgres) as (keyof typeof ROW_FILES.postgres)[]) {
      await rows(ROW_FILES.postgres[name].path, tables[name]);
    }
  }
  if (facts.commitLog.present) await rows(ROW_FILES.commitLog.path, facts.commitLog.value.transactions);
  if (facts.lottery.present) await rows(ROW_FILES.lottery.path, facts.lottery.value);
  if (facts.channel.present) {
    await rows(ROW_FILES.channelCharges.path, facts.channel.value.charges);
    await rows(ROW_FILES.channelRefunds.path, facts.channel.value.refunds);
  }
  const absent: Partial<Record<EvidenceName, string>> = {};
  for (const name of EVIDENCE_NAMES) {
    const evidence = facts[name];
    if (!evidence.present) absent[name] = evidence.reason;
  }
  const index: FactsIndex = { schemaVersion: 1, absent, files };
  await writeDocument(directory, FACT_DOCUMENTS.index, pretty(index));
}

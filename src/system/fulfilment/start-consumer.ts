/** The role `consumer`: message → transaction → offset (paper 001 §2). Offsets move only over finished messages (CASES C20). */
import { DeadLetterCause } from '../../domain/dead-letter.js';
import type { ConsumerStrategy, RoleConfig } from '../../domain/role-config.js';
import type { OrderLedger } from '../ledger/ledger-port.js';
import type { BatchContext, LogConsumer, ReceivedMessage } from '../order-log/order-log-port.js';
import { createRoleMetrics, type RoleMetrics } from '../role-metrics.js';
import type { DeadLetterSender } from '../recovery/dead-letter-sender.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import { fulfilmentMetrics } from './fulfilment-metrics.js';
import { finishChunk, type ChunkParts, type Item } from './finish-chunk.js';
import { readMessage } from './read-message.js';

export interface ConsumerDeps {
  readonly consumer: LogConsumer;
  readonly ledger: OrderLedger;
  readonly deadLetters: DeadLetterSender;
  /** The role's recorder. Absent: counted, and shown nowhere. */
  readonly metrics?: RoleMetrics;
}

/** Messages per transaction. Throws on a batch size that is no whole number of 1…5000. */
export function chunkSizeOf(strategy: ConsumerStrategy): number {
  if (strategy === 'single') return 1;
  const size = Number(strategy.slice('batch:'.length));
  if (!Number.isInteger(size) || size < 1 || size > 5_000) throw new Error(`a consumer batch is 1 to 5000 messages, not ${strategy}`);
  return size;
}

/** Starts consuming, after a rehearsal where one is asked for, and returns at once. The returned role owns `deps`: its stop ends the consumer and closes the ledger. */
export async function startConsumer(deps: ConsumerDeps, config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const chunkSize = chunkSizeOf(config.strategies.consumer);
  // Transactions of one message each do not wait for each other's COMMIT; their offsets still move only when all of the batch are done.
  const lanes = chunkSize === 1 ? config.tuning.postgresPoolSize : 1;
  const parts: ChunkParts = {
    ledger: deps.ledger,
    deadLetters: deps.deadLetters,
    attemptsMax: config.tuning.deadLetterAttempts,
    metrics: fulfilmentMetrics(deps.metrics ?? createRoleMetrics(config.role, config.instance)),
    surroundings,
    progress: { decided: 0 },
  };

  const handle = async (records: readonly ReceivedMessage[], context: BatchContext): Promise<void> => {
    const { items, malformed } = readAll(records);
    await surroundings.observer.reached('consumer.received', items.map(({ message }) => message.reservationId));
    await finishAll(chunksOf(items, chunkSize), lanes, context, parts);
    // After the orders: nobody's order waits for a dead letter.
    for (const { record, problem } of malformed) await buryMalformed(record, problem, context, parts);
  };
  const afterOffsetCommit = (records: readonly ReceivedMessage[]): void | Promise<void> =>
    surroundings.observer.reached('consumer.after-offset-commit', records.map((record) => record.key));

  const { rehearsedOrders } = config.tuning;
  if (rehearsedOrders > 0) await deps.ledger.rehearse?.(rehearsedOrders, chunkSize);

  const failed = new Promise<Error>((resolve) => {
    deps.consumer.run(handle, afterOffsetCommit).catch((error: unknown) => {
      resolve(error instanceof Error ? error : new Error(String(error)));
    });
  });
  return Promise.resolve({
    health: () => healthOf(deps),
    fatal: Promise.race([failed, deps.consumer.fatal]),
    async stop() {
      await deps.consumer.stop();
      await Promise.all([deps.ledger.close(), deps.deadLetters.close()]);
    },
  });
}

interface ReadRecords {
  readonly items: Item[];
  readonly malformed: { readonly record: ReceivedMessage; readonly problem: string }[];
}

function readAll(records: readonly ReceivedMessage[]): ReadRecords {
  const read: ReadRecords = { items: [], malformed: [] };
  for (const record of records) {
    const found = readMessage(record);
    if (found.ok) read.items.push({ message: found.message, record });
    else read.malformed.push({ record, problem: found.problem });
  }
  return read;
}

/** No second try: what is no message now will be none later. */
async function buryMalformed(record: ReceivedMessage, problem: string, context: BatchContext, parts: ChunkParts): Promise<void> {
  const { deadLetters, metrics, surroundings } = parts;
  await deadLetters.bury(record, { cause: DeadLetterCause.MALFORMED, detail: problem, attempts: 1, firstSeenAtMs: surroundings.clock.nowMs() }, context);
  metrics.skipped('malformed');
  await surroundings.observer.reached('consumer.after-dead-letter', [record.key]);
}

function chunksOf(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, place) => items.slice(place * size, (place + 1) * size));
}

/** Finishes the chunks in `lanes` at once. Waits for every lane, also after a failure, so that nothing runs on when the batch comes again. */
async function finishAll(chunks: Item[][], lanes: number, context: BatchContext, parts: ChunkParts): Promise<void> {
  const queue = chunks.values();
  const ends = await Promise.allSettled(Array.from({ length: Math.min(lanes, chunks.length) }, async () => {
    for (const chunk of queue) await finishChunk(chunk, context, parts);
  }));
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

async function healthOf(deps: ConsumerDeps): Promise<readonly string[]> {
  const problems: string[] = [];
  if (!deps.consumer.ready()) problems.push('the consumer has not joined its group');
  if (!(await deps.ledger.ready())) problems.push('PostgreSQL does not answer');
  return problems;
}

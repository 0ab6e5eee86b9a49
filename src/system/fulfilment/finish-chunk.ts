/**
 * Brings one chunk of messages to its end: through outages, unknown COMMITs, and messages that the database will not have.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { DeadLetterCause } from '../../domain/dead-letter.js';
import type { OrderMessage } from '../../domain/order-message.js';
import type { OrderLedger, TransactionOutcome } from '../ledger/ledger-port.js';
import type { BatchContext, ReceivedMessage } from '../order-log/order-log-port.js';
import type { DeadLetterSender } from '../recovery/dead-letter-sender.js';
import type { RoleSurroundings } from '../role.js';
import type { FulfilmentMetrics } from './fulfilment-metrics.js';
import { BatchInterrupted, withHeartbeats } from './with-heartbeats.js';

/** Waits between tries of one chunk: 100 ms, growing to 500 ms, so that a healed PostgreSQL is found within half a second. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 500;

/** A message and the record it was read from. */
export interface Item {
  readonly message: OrderMessage;
  readonly record: ReceivedMessage;
}

export interface ChunkParts {
  readonly ledger: OrderLedger;
  readonly deadLetters: DeadLetterSender;
  /** Times that a lone message is refused before it is given up. */
  readonly attemptsMax: number;
  readonly metrics: FulfilmentMetrics;
  readonly surroundings: RoleSurroundings;
}

/**
 * Resolves only when every message of the chunk has its Inbox row, or is stored as a dead letter. Rejects with `BatchInterrupted` when the
 * batch is no longer ours, or with the heartbeat's error; then no offset may be committed.
 */
export async function finishChunk(items: readonly Item[], context: BatchContext, parts: ChunkParts): Promise<void> {
  const firstSeenAtMs = parts.surroundings.clock.nowMs();
  let refusals = 0;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    if (!context.isRunning()) throw new BatchInterrupted(`stopped with ${String(items.length)} messages unfinished; they come again`);
    const end = await withHeartbeats(parts.ledger.createOrders(items.map(({ message }) => message)), context);
    if (end.outcome === 'committed') return;
    // Halves find one bad message among N in about log2 N rounds, and nobody else's order waits for it. A slow batch fits when it is smaller.
    if (items.length > 1 && (isMessagesFault(end) || (end.outcome === 'not-committed' && end.slow))) {
      parts.surroundings.log('warn', 'batch split', { messages: items.length, reason: end.reason });
      await finishHalves(items, context, parts);
      return;
    }
    const [alone] = items;
    // Only what lies in the message itself counts: an outage, or a schema that is not there, would make every message a dead letter.
    if (alone !== undefined && isMessagesFault(end) && (refusals += 1) >= parts.attemptsMax) {
      const cause = end.fault === 'tables' ? DeadLetterCause.ANOMALY : DeadLetterCause.REFUSED;
      await parts.deadLetters.bury(alone.record, { cause, detail: end.reason, attempts: refusals, firstSeenAtMs }, context);
      parts.metrics.skipped('refused');
      await parts.surroundings.observer.reached('consumer.after-dead-letter', [alone.message.reservationId]);
      return;
    }
    noteTry(end, items, parts);
    await withHeartbeats(delay(pauseMs), context);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

function isMessagesFault(end: TransactionOutcome): end is TransactionOutcome & { readonly outcome: 'refused' } {
  return end.outcome === 'refused' && end.fault !== 'schema';
}

async function finishHalves(items: readonly Item[], context: BatchContext, parts: ChunkParts): Promise<void> {
  const middle = Math.ceil(items.length / 2);
  await finishChunk(items.slice(0, middle), context, parts);
  await finishChunk(items.slice(middle), context, parts);
}

/** Unknown and not committed are handled alike on purpose: the same messages again, and the Inbox tells what has been done (paper 001 §7.5). */
function noteTry(end: TransactionOutcome & { readonly reason: string }, items: readonly Item[], { metrics, surroundings }: ChunkParts): void {
  metrics.triedAgain(end.outcome);
  const level = end.outcome === 'refused' ? 'error' : 'warn';
  surroundings.log(level, end.outcome === 'unknown' ? 'COMMIT without an answer' : 'orders not written', { messages: items.length, reason: end.reason });
}

/**
 * Brings one chunk of messages to its end: through outages, unknown COMMITs, and messages that the database will not have.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { OrderMessage } from '../../domain/order-message.js';
import type { OrderLedger, TransactionOutcome } from '../ledger/ledger-port.js';
import type { BatchContext } from '../order-log/order-log-port.js';
import type { RoleSurroundings } from '../role.js';
import type { FulfilmentMetrics } from './fulfilment-metrics.js';
import { withHeartbeats } from './with-heartbeats.js';

/** Waits between tries of one chunk: 100 ms, growing to 500 ms, so that a healed PostgreSQL is found within half a second. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 500;

export interface ChunkParts {
  readonly ledger: OrderLedger;
  readonly metrics: FulfilmentMetrics;
  readonly log: RoleSurroundings['log'];
}

/** The consumer stops or lost its partition: what is not finished comes again, to whoever owns the partition then. */
export class BatchInterrupted extends Error {
  override readonly name = 'BatchInterrupted';
}

/**
 * Resolves only when every message of the chunk has its Inbox row, or was skipped on purpose and counted. Rejects with `BatchInterrupted`
 * when the batch is no longer ours, or with the heartbeat's error; then no offset may be committed.
 */
export async function finishChunk(messages: readonly OrderMessage[], context: BatchContext, parts: ChunkParts): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    if (!context.isRunning()) throw new BatchInterrupted(`stopped with ${String(messages.length)} messages unfinished; they come again`);
    const end = await withHeartbeats(parts.ledger.createOrders(messages), context);
    if (end.outcome === 'committed') return;
    // Halves find one bad message among N in about log2 N rounds, and nobody else's order waits for it. A slow batch fits when it is smaller.
    if (messages.length > 1 && (end.outcome === 'refused' || (end.outcome === 'not-committed' && end.slow))) {
      parts.log('warn', 'batch split', { messages: messages.length, reason: end.reason });
      await finishHalves(messages, context, parts);
      return;
    }
    if (end.outcome === 'refused' && messages[0] !== undefined) {
      await refuseOne(messages[0], end.reason, context, parts);
      return;
    }
    noteTry(end, messages, parts);
    await withHeartbeats(delay(pauseMs), context);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

async function finishHalves(messages: readonly OrderMessage[], context: BatchContext, parts: ChunkParts): Promise<void> {
  const middle = Math.ceil(messages.length / 2);
  await finishChunk(messages.slice(0, middle), context, parts);
  await finishChunk(messages.slice(middle), context, parts);
}

/** Unknown and not committed are handled alike on purpose: the same messages again, and the Inbox tells what has been done (paper 001 §7.5). */
function noteTry(end: TransactionOutcome & { readonly reason: string }, messages: readonly OrderMessage[], parts: ChunkParts): void {
  parts.metrics.triedAgain(end.outcome);
  parts.log('warn', end.outcome === 'unknown' ? 'COMMIT without an answer' : 'orders not written', { messages: messages.length, reason: end.reason });
}

/** A message that the order path refuses even alone is refused durably, so that its unit goes back; failing that it is skipped, loudly. */
async function refuseOne(message: OrderMessage, reason: string, context: BatchContext, parts: ChunkParts): Promise<void> {
  const fields = { messageId: message.messageId, reservationId: message.reservationId, requestId: message.requestId, reason };
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (!context.isRunning()) throw new BatchInterrupted('stopped while a message was being refused; it comes again');
    const end = await withHeartbeats(parts.ledger.refuse(message), context);
    if (end.outcome === 'committed') {
      parts.metrics.skipped('refused');
      parts.log('error', 'message refused durably', fields);
      return;
    }
    if (end.outcome === 'refused') {
      parts.metrics.skipped('unprocessable');
      parts.log('error', 'message skipped: the database refuses even its refusal', { ...fields, refusal: end.reason });
      return;
    }
    await withHeartbeats(delay(pauseMs), context);
  }
}

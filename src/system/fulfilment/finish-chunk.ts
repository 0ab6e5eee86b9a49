/**
 * Brings one chunk of messages to its end: through outages, unknown COMMITs, and messages that cannot be worked off. One that fails waits behind the others of its chunk,
 * so that nobody else's order waits for it, and so that it is seen whether the fault lies in it.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { DeadLetterCause } from '../../domain/dead-letter.js';
import type { OrderMessage } from '../../domain/order-message.js';
import type { OrderLedger, TransactionOutcome } from '../ledger/ledger-port.js';
import { isBug } from '../ledger/postgres-failure.js';
import type { BatchContext, ReceivedMessage } from '../order-log/order-log-port.js';
import type { DeadLetterSender } from '../recovery/dead-letter-sender.js';
import type { RoleSurroundings } from '../role.js';
import type { FulfilmentMetrics } from './fulfilment-metrics.js';
import { BatchInterrupted, withHeartbeats } from './with-heartbeats.js';

/** Waits between tries of one chunk: 100 ms, growing to 500 ms, so that a healed PostgreSQL is found within half a second. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 500;

/** A chunk that other transactions were in the way of this often is cut: one message of it may meet them each time. */
const CONTESTED_TRIES_BEFORE_SPLIT = 3;
/** A lone message that PostgreSQL answers each time, and never takes: so many times `attemptsMax`, while messages beside it are worked off. About half a minute. */
const STUCK_FACTOR = 7;
/** The same where nothing beside it was worked off: a lock that somebody holds for long looks alike. */
const STUCK_ALONE_FACTOR = 5 * STUCK_FACTOR;

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
  /** Of the whole role: transactions in which a message was decided for the first time. */
  readonly progress: { decided: number };
}

/** What is tried together, and what became of it so far. */
interface Work {
  readonly items: readonly Item[];
  /** `progress.decided` when it was met first. */
  readonly decidedBefore: number;
  refusals: number;
  contests: number;
  bugs: number;
  pauseMs: number;
}

type Failure = Exclude<TransactionOutcome, { readonly outcome: 'committed' }> | { readonly outcome: 'bug'; readonly reason: string; readonly error: unknown };

/**
 * Resolves only when every message of the chunk has its Inbox row, or is stored as a dead letter. Rejects with `BatchInterrupted` when the
 * batch is no longer ours, with the heartbeat's error, or with a bug that nothing shows to be one message's; then no offset may be committed.
 */
export async function finishChunk(items: readonly Item[], context: BatchContext, parts: ChunkParts): Promise<void> {
  const firstSeenAtMs = parts.surroundings.clock.nowMs();
  const open: Work[] = [workOn(items, parts)];
  for (let work = open.shift(); work !== undefined; work = open.shift()) {
    const unfinished = [work, ...open].reduce((sum, each) => sum + each.items.length, 0);
    if (!context.isRunning()) throw new BatchInterrupted(`stopped with ${String(unfinished)} messages unfinished; they come again`);
    const end = await withHeartbeats(decide(work.items, parts), context);
    if (end.outcome === 'committed') {
      if (end.results.some(({ repeated }) => !repeated)) parts.progress.decided += 1;
      continue;
    }
    count(work, end);
    const [alone] = work.items;
    if (work.items.length > 1) {
      if (mayBeOneMessage(work, end)) {
        parts.surroundings.log('warn', 'batch split', { messages: work.items.length, reason: end.reason });
        open.unshift(...halvesOf(work, parts));
        continue;
      }
    } else if (alone !== undefined) {
      const given = givenUp(work, end, parts);
      if (given !== null) {
        await bury(alone, { ...given, detail: end.reason, firstSeenAtMs }, context, parts);
        continue;
      }
      // Whether the bug is this message's or everybody's is not known: dying is seen, and a dead letter of every message would be worse.
      if (end.outcome === 'bug' && [work, ...open].every(({ bugs }) => bugs >= parts.attemptsMax)) throw end.error;
    }
    noteTry(end, work, parts);
    await withHeartbeats(delay(work.pauseMs), context);
    work.pauseMs = Math.min(work.pauseMs * 2, LONGEST_PAUSE_MS);
    open.push(work);
  }
}

/** `contests`: of the work that it was cut from, as long as it may have to be cut again. */
function workOn(items: readonly Item[], { progress }: ChunkParts, contests = 0): Work {
  return { items, decidedBefore: progress.decided, refusals: 0, contests: items.length > 1 ? contests : 0, bugs: 0, pauseMs: FIRST_PAUSE_MS };
}

async function decide(items: readonly Item[], { ledger }: ChunkParts): Promise<TransactionOutcome | Failure> {
  try {
    return await ledger.createOrders(items.map(({ message }) => message));
  } catch (error) {
    if (!isBug(error)) throw error;
    return { outcome: 'bug', reason: `${(error as Error).name}: ${(error as Error).message}`, error };
  }
}

function count(work: Work, end: Failure): void {
  if (isMessagesFault(end)) work.refusals += 1;
  else if (end.outcome === 'bug') work.bugs += 1;
  else if (end.outcome === 'not-committed' && end.answered === true) work.contests += 1;
}

/** Only what lies in the message itself: an outage, or a schema that is not there, would make every message a dead letter. */
function isMessagesFault(end: Failure): boolean {
  return end.outcome === 'refused' && end.fault !== 'schema';
}

/** Halves find one bad message among N in about log2 N rounds. A slow batch fits when it is smaller. */
function mayBeOneMessage(work: Work, end: Failure): boolean {
  if (isMessagesFault(end) || end.outcome === 'bug') return true;
  return end.outcome === 'not-committed' && (end.slow || work.contests >= CONTESTED_TRIES_BEFORE_SPLIT);
}

function halvesOf({ items, contests }: Work, parts: ChunkParts): Work[] {
  const middle = Math.ceil(items.length / 2);
  return [workOn(items.slice(0, middle), parts, contests), workOn(items.slice(middle), parts, contests)];
}

interface GivenUp {
  readonly cause: DeadLetterCause;
  readonly attempts: number;
  readonly as: 'refused' | 'stuck' | 'bug';
}

/** Whether a lone message has been tried often enough. What is not its own fault for sure is given up only where others were worked off beside it. */
function givenUp(work: Work, end: Failure, { attemptsMax, progress }: ChunkParts): GivenUp | null {
  const { refusals, bugs, contests } = work;
  const othersAreWell = progress.decided > work.decidedBefore;
  if (end.outcome === 'refused' && refusals >= attemptsMax) return { cause: end.fault === 'tables' ? DeadLetterCause.ANOMALY : DeadLetterCause.REFUSED, attempts: refusals, as: 'refused' };
  if (bugs >= attemptsMax && othersAreWell) return { cause: DeadLetterCause.ANOMALY, attempts: bugs, as: 'bug' };
  const isStuck = contests >= attemptsMax * (othersAreWell ? STUCK_FACTOR : STUCK_ALONE_FACTOR);
  return isStuck ? { cause: DeadLetterCause.ANOMALY, attempts: contests, as: 'stuck' } : null;
}

async function bury({ message, record }: Item, given: GivenUp & { readonly detail: string; readonly firstSeenAtMs: number }, context: BatchContext, parts: ChunkParts): Promise<void> {
  const { cause, attempts, as, detail, firstSeenAtMs } = given;
  await parts.deadLetters.bury(record, { cause, detail, attempts, firstSeenAtMs }, context);
  parts.metrics.skipped(as);
  await parts.surroundings.observer.reached('consumer.after-dead-letter', [message.reservationId]);
}

/** For the log: of a batch, the ids of its first. Unknown and not committed are handled alike on purpose: the same messages again, and the Inbox tells what has been done (paper 001 §7.5). */
function noteTry(end: Failure, { items }: Work, { metrics, surroundings }: ChunkParts): void {
  metrics.triedAgain(end.outcome);
  const level = end.outcome === 'refused' || end.outcome === 'bug' ? 'error' : 'warn';
  const [first] = items;
  surroundings.log(level, end.outcome === 'unknown' ? 'COMMIT without an answer' : 'orders not written', {
    messages: items.length, messageId: first?.message.messageId ?? null, reservationId: first?.message.reservationId ?? null, requestId: first?.message.requestId ?? null, reason: end.reason,
  });
}

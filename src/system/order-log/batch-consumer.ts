/**
 * `LogConsumer` on kafkajs: batches in order, the offset after the work, redelivery when the work fails, and never a silent death.
 *
 * A failing handler is asked again here, inside kafkajs's batch callback, with heartbeats in between: throwing out of that callback would back
 * off all partitions, and after some rounds leave the group. Only a lost membership is thrown on.
 */
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';

import type { HostPort } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import type { ConsumerProgress } from './consumer-metrics.js';
import { ConsumerSession } from './consumer-session.js';
import type { BatchContext, LogConsumer, ReceivedMessage } from './order-log-port.js';
import { rootCause } from './send-outcome.js';

export interface BatchConsumerOptions {
  readonly address: HostPort;
  readonly clientId: string;
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly sessionTimeoutMs: number;
  readonly log: RoleSurroundings['log'];
  /** Most messages given to one call of the handler; a fetched batch is cut into such pieces, and each piece is committed. Default 500. */
  readonly maxMessages?: number;
  /** Partitions handled at once in this process. kafkajs may exceed it after an error: no mutex. Default 4. */
  readonly partitionsConcurrently?: number;
  readonly maxBytesPerPartition?: number;
  /** Longest time without any sign of life before the member is replaced. Default: 5 session timeouts, at least 20 s. */
  readonly stallTimeoutMs?: number;
  /** Told of each piece, for metrics. */
  readonly progress?: ConsumerProgress;
}

type Handler = Parameters<LogConsumer['run']>[0];
type AfterCommit = Parameters<LogConsumer['run']>[1];

/** Heartbeat failures are marked, so that the handler's own failures are told apart from a lost membership. */
class MembershipLost extends Error {
  readonly original: unknown;
  constructor(original: unknown) {
    super(rootCause(original).message, { cause: original });
    this.name = 'MembershipLost';
    this.original = original;
  }
}

const BUG_NAMES: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'AssertionError', 'AssertionError [ERR_ASSERTION]']);
/** A bug may be met by one odd state only; the same batch failing this often with one will not heal. */
const MAX_BUGS_IN_A_ROW = 5;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 1_000;
/** With the pauses between them some four seconds: about as long as a broker takes to come back from a restart. */
const COMMIT_ATTEMPTS = 7;
const RESTART_DELAY_MS = 300;
const STOP_TIMEOUT_MS = 4_000;

class BatchConsumer implements LogConsumer {
  readonly fatal: Promise<Error>;
  readonly #options: BatchConsumerOptions;
  readonly #stallTimeoutMs: number;
  #reportFatal: (error: Error) => void = () => undefined;
  #handle: Handler | null = null;
  #afterCommit: AfterCommit = () => undefined;
  #session: ConsumerSession | null = null;
  #watchdog: NodeJS.Timeout | null = null;
  #restartTimer: NodeJS.Timeout | null = null;
  #stopped = false;
  #bugsInARow = 0;
  /** Batches inside the handler now. */
  #inHand = 0;

  constructor(options: BatchConsumerOptions) {
    this.#options = options;
    this.#stallTimeoutMs = options.stallTimeoutMs ?? Math.max(20_000, options.sessionTimeoutMs * 5);
    this.fatal = new Promise((resolve) => {
      this.#reportFatal = resolve;
    });
  }

  async run(handle: Handler, afterOffsetCommit: AfterCommit): Promise<void> {
    if (this.#handle !== null) throw new Error('a consumer runs once');
    this.#handle = handle;
    this.#afterCommit = afterOffsetCommit;
    this.#watchdog = setInterval(() => this.#checkForLife(), Math.min(1_000, this.#stallTimeoutMs / 4));
    await this.#startSession();
  }

  ready(): boolean {
    return this.#session?.joined ?? false;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#watchdog !== null) clearInterval(this.#watchdog);
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    const session = this.#session;
    this.#session = null;
    await session?.stop(STOP_TIMEOUT_MS);
  }

  async #startSession(): Promise<void> {
    if (this.#stopped) return;
    const session: ConsumerSession = new ConsumerSession({
      address: this.#options.address,
      clientId: this.#options.clientId,
      groupId: this.#options.groupId,
      topics: this.#options.topics,
      sessionTimeoutMs: this.#options.sessionTimeoutMs,
      partitionsConcurrently: this.#options.partitionsConcurrently ?? 4,
      maxBytesPerPartition: this.#options.maxBytesPerPartition ?? 1_048_576,
      log: this.#options.log,
      eachBatch: (payload) => this.#eachBatch(session, payload),
      onDead: (error) => this.#onDead(session, error),
    });
    this.#session = session;
    try {
      await session.start();
    } catch (error) {
      this.#options.log('warn', 'the consumer could not start; trying again', { reason: rootCause(error).message });
      this.#replace(session);
    }
  }

  #onDead(session: ConsumerSession, error: Error): void {
    const root = rootCause(error);
    if (BUG_NAMES.has(root.name)) {
      this.#die(new Error(`the consumer died of a bug: ${root.name}: ${root.message}`, { cause: error }));
      return;
    }
    // kafkajs calls even a cut connection during the coordinator look-up final; a new member is all it takes.
    this.#replace(session);
  }

  #replace(session: ConsumerSession): void {
    if (this.#session !== session || this.#stopped) return;
    this.#session = null;
    void session.stop(STOP_TIMEOUT_MS);
    this.#restartTimer = setTimeout(() => void this.#startSession(), RESTART_DELAY_MS);
  }

  #checkForLife(): void {
    const session = this.#session;
    if (session === null || session.silentForMs() < this.#stallTimeoutMs) return;
    if (this.#inHand > 0) {
      // A handler that waits for its database heartbeats; one that does not is stuck, and a new member would only get the same batch.
      this.#die(new Error(`the handler of the consumer is stuck since ${String(Math.round(session.silentForMs()))} ms`));
      return;
    }
    this.#options.log('error', 'the consumer shows no sign of life and is replaced', { silentMs: Math.round(session.silentForMs()) });
    this.#replace(session);
  }

  #die(error: Error): void {
    this.#options.log('error', error.message);
    this.#reportFatal(error);
  }

  async #eachBatch(session: ConsumerSession, payload: EachBatchPayload): Promise<void> {
    const { topic, partition, messages } = payload.batch;
    const isCurrent = (): boolean => this.#session === session && !this.#stopped && payload.isRunning() && !payload.isStale();
    const context: BatchContext = {
      isRunning: isCurrent,
      heartbeat: async () => {
        session.noteSignOfLife();
        try {
          await payload.heartbeat();
        } catch (error) {
          throw new MembershipLost(error);
        }
      },
    };
    const size = this.#options.maxMessages ?? 500;
    this.#inHand += 1;
    session.noteSignOfLife();
    try {
      for (let start = 0; start < messages.length && isCurrent(); start += size) {
        const part = messages.slice(start, start + size);
        const piece = part.map((message) => received(topic, partition, message));
        this.#options.progress?.began(topic, partition, behind(payload, part[0], 0n), Number(part[0]?.timestamp ?? 0));
        const done = await this.#handleUntilDone(piece, context);
        if (!done) {
          this.#options.progress?.left(topic, partition);
          return;
        }
        this.#options.progress?.finished(topic, partition, piece.length, behind(payload, part.at(-1), 1n));
        await this.#commit(payload, piece, context);
        await context.heartbeat();
      }
    } catch (error) {
      if (error instanceof MembershipLost) throw error.original;
      // kafkajs never restarts after a TypeError and its kin; as a plain Error it does.
      throw new Error(`while handling a batch: ${rootCause(error).message}`);
    } finally {
      this.#inHand -= 1;
    }
  }

  /** False when the batch was given up because the consumer stops or lost the partition: it will come again, here or elsewhere. */
  async #handleUntilDone(piece: readonly ReceivedMessage[], context: BatchContext): Promise<boolean> {
    let backoffMs = FIRST_BACKOFF_MS;
    while (context.isRunning()) {
      try {
        await this.#handle?.(piece, context);
        this.#bugsInARow = 0;
        return true;
      } catch (error) {
        if (error instanceof MembershipLost) throw error;
        this.#noteHandlerFailure(error, piece);
      }
      await context.heartbeat();
      await new Promise((resolve) => setTimeout(resolve, backoffMs));
      backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
    }
    return false;
  }

  #noteHandlerFailure(error: unknown, piece: readonly ReceivedMessage[]): void {
    const root = rootCause(error);
    const first = piece[0];
    if (first !== undefined) this.#options.progress?.failed(first.topic);
    this.#options.log('warn', 'the handler failed; the batch comes again', {
      reason: `${root.name}: ${root.message}`,
      partition: first?.partition ?? null,
      offset: first?.offset ?? null,
      messages: piece.length,
    });
    if (!BUG_NAMES.has(root.name)) return;
    this.#bugsInARow += 1;
    if (this.#bugsInARow >= MAX_BUGS_IN_A_ROW) this.#die(new Error(`the handler keeps failing by a bug: ${root.name}: ${root.message}`, { cause: error }));
  }

  /**
   * A failed commit is tried again while the partition is ours: on a partition where nothing more comes there is no next commit that would cover it, and the group would
   * lag by these messages for ever. In the end it is the ordinary way to a duplicate, which the Inbox knows; so the work goes on.
   */
  async #commit(payload: EachBatchPayload, piece: readonly ReceivedMessage[], context: BatchContext): Promise<void> {
    const last = piece.at(-1);
    if (last === undefined) return;
    payload.resolveOffset(last.offset);
    let backoffMs = FIRST_BACKOFF_MS;
    for (let attempt = 1; !(await this.#hasCommitted(payload, last)); attempt += 1) {
      if (attempt === COMMIT_ATTEMPTS || !context.isRunning()) return;
      await new Promise((resolve) => setTimeout(resolve, backoffMs));
      await context.heartbeat();
      backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
    }
    await this.#afterCommit(piece);
  }

  async #hasCommitted(payload: EachBatchPayload, { topic, partition, offset }: ReceivedMessage): Promise<boolean> {
    const next = (BigInt(offset) + 1n).toString();
    try {
      await payload.commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset: next }] }] });
      return true;
    } catch (error) {
      this.#options.log('warn', 'an offset could not be committed', { partition, offset: next, reason: rootCause(error).message });
      return false;
    }
  }
}

/** Messages of the partition from `message` on, or from the one after it, as the broker counted them at the fetch. */
function behind(payload: EachBatchPayload, message: KafkaMessage | undefined, after: 0n | 1n): number {
  return message === undefined ? 0 : Math.max(0, Number(BigInt(payload.batch.highWatermark) - BigInt(message.offset) - after));
}

function received(topic: string, partition: number, message: KafkaMessage): ReceivedMessage {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(message.headers ?? {})) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.map(String).join(',') : String(value);
  }
  const { offset, key, value } = message;
  return { topic, partition, offset, key: key?.toString() ?? '', value: value?.toString() ?? '', headers, raw: { key, value } };
}

/** A consumer that opens nothing before `run`. */
export function createBatchConsumer(options: BatchConsumerOptions): LogConsumer {
  return new BatchConsumer(options);
}

/**
 * Gathers reserve requests of one SKU into calls of up to 64: no timer, a batch leaves when it is full or at the end of the loop turn, and
 * while many calls are in flight the next batches grow by themselves (LOAD "Micro-batcher": 64 a call, 8 to 32 in flight).
 */
import type { SkuKey } from '../../domain/ids.js';
import type { CallFailure } from './call-failure.js';
import { RESERVE_BATCH_MAX } from './reserve.js';
import type { ReserveDecision, ReserveReply, ReserveRequest, StockPort } from './stock-port.js';

export interface ReserveBatcherOptions {
  /** 1…64. */
  readonly maxBatch?: number;
  /** Calls on the wire at once. */
  readonly maxInFlight?: number;
  /** Requests that may wait; one more is refused at once. */
  readonly queueLimit?: number;
  /** A request that has waited this long is refused: it was never sent, so surely nothing happened. */
  readonly deadlineMs?: number;
  /** Monotonic milliseconds; for tests. */
  readonly nowMs?: () => number;
}

/** Of one request. `unknown`: its call may or may not have happened; the same request id may be sent again. */
export type SubmitReply = { readonly outcome: 'done'; readonly decision: ReserveDecision } | CallFailure;

export interface ReserveBatcher {
  /** Never rejects for an operating failure. */
  submit(request: ReserveRequest): Promise<SubmitReply>;
  readonly waiting: number;
  readonly inFlight: number;
  /** Requests that wait or are on the wire. */
  readonly unanswered: number;
}

interface Entry {
  readonly request: ReserveRequest;
  readonly submittedAtMs: number;
  readonly settle: (reply: SubmitReply) => void;
  readonly fail: (error: unknown) => void;
}

/** After this many taken entries the front of the queue is cut off, so that a queue that never empties does not grow. */
const COMPACT_AFTER = 4_096;

export function createReserveBatcher(stock: Pick<StockPort, 'reserve'>, sku: SkuKey, options: ReserveBatcherOptions = {}): ReserveBatcher {
  const maxBatch = Math.min(options.maxBatch ?? RESERVE_BATCH_MAX, RESERVE_BATCH_MAX);
  const { maxInFlight = 32, queueLimit = 4_096, deadlineMs = 500, nowMs = () => performance.now() } = options;
  let queue: Entry[] = [];
  let head = 0;
  let inFlight = 0;
  let onTheWire = 0;
  let scheduled = false;

  function takeBatch(): Entry[] {
    const oldest = nowMs() - deadlineMs;
    const batch: Entry[] = [];
    while (batch.length < maxBatch) {
      const entry = queue[head];
      if (entry === undefined) break;
      head += 1;
      if (entry.submittedAtMs <= oldest) entry.settle({ outcome: 'surely-not-done', reason: 'waited past its deadline and was not sent' });
      else batch.push(entry);
    }
    if (head > COMPACT_AFTER || head === queue.length) {
      queue = queue.slice(head);
      head = 0;
    }
    return batch;
  }

  function flush(): void {
    while (inFlight < maxInFlight && head < queue.length) {
      const batch = takeBatch();
      if (batch.length > 0) launch(batch);
    }
  }

  function launch(batch: readonly Entry[]): void {
    inFlight += 1;
    onTheWire += batch.length;
    const requests: ReserveRequest[] = [];
    for (const { request } of batch) requests.push(request);
    void stock.reserve(sku, requests).then(
      (reply) => { settleAll(batch, reply); },
      (error: unknown) => { for (const entry of batch) entry.fail(error); },
    ).finally(() => {
      inFlight -= 1;
      onTheWire -= batch.length;
      flush();
    });
  }

  return {
    get waiting() {
      return queue.length - head;
    },
    get inFlight() {
      return inFlight;
    },
    get unanswered() {
      return queue.length - head + onTheWire;
    },
    submit(request) {
      if (queue.length - head >= queueLimit) return Promise.resolve({ outcome: 'surely-not-done', reason: 'the line in front of Redis is full' });
      return new Promise((settle, fail) => {
        queue.push({ request, submittedAtMs: nowMs(), settle, fail });
        if (queue.length - head >= maxBatch) {
          flush();
        } else if (!scheduled) {
          scheduled = true;
          setImmediate(() => {
            scheduled = false;
            flush();
          });
        }
      });
    },
  };
}

function settleAll(batch: readonly Entry[], reply: ReserveReply): void {
  for (let index = 0; index < batch.length; index += 1) {
    const entry = batch[index];
    if (entry === undefined) break;
    if (reply.outcome !== 'done') {
      entry.settle(reply);
      continue;
    }
    const decision = reply.decisions[index];
    if (decision === undefined) entry.fail(new Error('a reserve call answered fewer decisions than requests'));
    else entry.settle({ outcome: 'done', decision });
  }
}

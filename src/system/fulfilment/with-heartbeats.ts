/** Keeps the group membership while one bounded piece of work is waited for, and says when there is no use in going on. */
import type { BatchContext } from '../order-log/order-log-port.js';

/** The consumer stops or lost its partition: what is not finished comes again, to whoever owns the partition then. */
export class BatchInterrupted extends Error {
  override readonly name = 'BatchInterrupted';
}

const INTERVAL_MS = 1_000;
/** Longer than any bounded call can take. Beyond it the worker hangs, and a hung worker must lose its partitions. */
const LIMIT_MS = 20_000;

/**
 * The work's value; a heartbeat before it is returned and each second while it runs. When a heartbeat fails the work is still waited for,
 * so that no second copy of it starts beside it, and then the heartbeat's error is thrown.
 */
export async function withHeartbeats<Value>(work: Promise<Value>, context: BatchContext): Promise<Value> {
  let lost: { readonly error: unknown } | null = null;
  const beat = async (): Promise<void> => {
    if (lost !== null) return;
    try {
      await context.heartbeat();
    } catch (error) {
      lost = { error };
    }
  };
  const startedMs = performance.now();
  const timer = setInterval(() => {
    if (performance.now() - startedMs < LIMIT_MS) void beat();
  }, INTERVAL_MS);
  try {
    const value = await work;
    await beat();
    return value;
  } finally {
    clearInterval(timer);
    throwIfLost(lost);
  }
}

function throwIfLost(lost: { readonly error: unknown } | null): void {
  if (lost !== null) throw lost.error instanceof Error ? lost.error : new Error(String(lost.error));
}

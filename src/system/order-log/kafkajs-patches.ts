/**
 * Mends kafkajs 2.2.4 in place. The version is pinned in package.json, and the test beside this file fails when a patched method is gone.
 */
import { createRequire } from 'node:module';

interface RequestQueuePrototype {
  pending: readonly unknown[];
  throttledUntil: number;
  scheduleCheckPendingRequests: (this: RequestQueuePrototype) => void;
}

const PATCHED = Symbol.for('seckill.kafkajs.idle-timer-patched');

/** The prototype that carries the method to patch, so that a test can look at the real one. */
export function requestQueuePrototype(): RequestQueuePrototype {
  const require = createRequire(import.meta.url);
  const queueClass = require('kafkajs/src/network/requestQueue') as { prototype: RequestQueuePrototype };
  return queueClass.prototype;
}

/**
 * Stops the idle timer loop: `scheduleCheckPendingRequests` re-arms itself with a negative delay, which Node takes as 1 ms, for ever and per
 * connection (855 timers a second and 4.1 % of a core for one idle producer; kafkajs issues 1704 and 1751). With nothing pending and no
 * throttling there is nothing to check: the next push or answer arms it again. Safe to call many times.
 */
export function patchKafkajs(): void {
  const prototype = requestQueuePrototype() as RequestQueuePrototype & { [PATCHED]?: boolean };
  if (prototype[PATCHED] === true) return;
  const original = prototype.scheduleCheckPendingRequests as ((this: RequestQueuePrototype) => void) | undefined;
  if (typeof original !== 'function') throw new Error('kafkajs changed: RequestQueue.scheduleCheckPendingRequests is gone');
  prototype.scheduleCheckPendingRequests = function scheduleWhenNeeded(this: RequestQueuePrototype): void {
    if (this.pending.length === 0 && this.throttledUntil <= Date.now()) return;
    original.call(this);
  };
  prototype[PATCHED] = true;
}

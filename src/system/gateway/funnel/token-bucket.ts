/**
 * Token buckets: per user, per device and for the whole instance. A bucket never lets more pass than its rate times the time plus its burst.
 *
 * Buckets of users and devices are kept in the order in which they were last seen, and the one unseen for longest goes first. A bucket that was unseen long
 * enough to be full again is the same as a new one, so forgetting it changes nothing; only under more callers than `bucketsMax` at once is one forgotten early.
 */
import type { BucketTuning } from '../../../domain/funnel.js';
import { limited, type GatewayAnswer } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer } from './layer.js';

interface Level {
  tokens: number;
  filledAtMs: number;
}

/** Takes one token: 0, or the milliseconds until there will be one. `nowMs` must not go back. */
function take(level: Level, { perSecond, burst }: BucketTuning, nowMs: number): number {
  level.tokens = Math.min(burst, level.tokens + (Math.max(0, nowMs - level.filledAtMs) / 1_000) * perSecond);
  level.filledAtMs = nowMs;
  if (level.tokens >= 1) {
    level.tokens -= 1;
    return 0;
  }
  return perSecond > 0 ? Math.max(1, ((1 - level.tokens) / perSecond) * 1_000) : Infinity;
}

/** Beyond this a client need not know when: longer than any storm. */
const RETRY_AFTER_MAX_MS = 60_000;

function throttled(request: ValidReservation, waitMs: number): GatewayAnswer {
  return limited(request.requestId, Math.min(RETRY_AFTER_MAX_MS, Math.ceil(waitMs)));
}

/** One bucket per key; a request without key passes. */
export function createKeyedBucketLayer(
  name: 'user-bucket' | 'device-bucket',
  keyOf: (request: ValidReservation) => string | null,
  tuning: BucketTuning,
  bucketsMax: number,
  nowMs: () => number = () => performance.now(),
): FunnelLayer {
  const buckets = new Map<string, Level>();
  return {
    name,
    pass(request) {
      const key = keyOf(request);
      if (key === null) return null;
      const now = nowMs();
      let level = buckets.get(key);
      if (level === undefined) {
        level = { tokens: tuning.burst, filledAtMs: now };
        if (buckets.size >= bucketsMax) for (const oldest of buckets.keys()) { buckets.delete(oldest); break; }
      } else {
        buckets.delete(key);
      }
      buckets.set(key, level);
      const waitMs = take(level, tuning, now);
      return waitMs === 0 ? null : throttled(request, waitMs);
    },
  };
}

/** One bucket for the whole gateway. `lastRefusedAtMs`: −∞ before the first refusal. */
export function createInstanceBucketLayer(tuning: BucketTuning, nowMs: () => number = () => performance.now()): FunnelLayer & { readonly lastRefusedAtMs: number } {
  const level: Level = { tokens: tuning.burst, filledAtMs: nowMs() };
  let lastRefusedAtMs = -Infinity;
  return {
    name: 'instance-bucket',
    get lastRefusedAtMs() {
      return lastRefusedAtMs;
    },
    pass(request) {
      const now = nowMs();
      const waitMs = take(level, tuning, now);
      if (waitMs === 0) return null;
      lastRefusedAtMs = now;
      return throttled(request, waitMs);
    },
  };
}

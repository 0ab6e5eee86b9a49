/**
 * Permits (domain/permit.ts): signature, expiry, whose it is, and that it is used once. A nonce is spent by the first request id that shows it; the same id may
 * show it again. Spent nonces are kept until their permit has expired, two windows at a time, so that memory is bounded by the permits of two windows.
 *
 * Spent per gateway: another gateway would take the same permit once more for another request id. That makes a try more and never an order more, since the
 * permit is bound to one user and Redis and PostgreSQL hold one order per user.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

import type { Clock } from '../../../domain/clock.js';
import { parsePermit, permitPayload, type ShownPermit } from '../../../domain/permit.js';
import { limited, permitInvalid } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer } from './layer.js';

/** A permit that is good for longer than this is refused: it could not be remembered as spent in bounded memory. */
const LIFETIME_MAX_MS = 24 * 3_600_000;

export type PermitProblem = 'MISSING' | 'MALFORMED' | 'EXPIRED' | 'TOO_LONG' | 'FORGED' | 'SPENT';

export interface PermitLayerOptions {
  readonly secret: string;
  readonly spentMax: number;
  readonly clock: Clock;
}

export function createPermitLayer({ secret, spentMax, clock }: PermitLayerOptions): FunnelLayer {
  /** Nonce → request id. `current` takes new ones; after a lifetime `previous` holds only expired ones and is dropped. */
  let current = new Map<string, string>();
  let previous = new Map<string, string>();
  let turnedAtMs = clock.nowMs();

  function turn(nowMs: number): void {
    if (Math.abs(nowMs - turnedAtMs) < LIFETIME_MAX_MS) return;
    previous = current;
    current = new Map();
    turnedAtMs = nowMs;
  }

  function isSigned({ sku, userId }: ValidReservation, { expiresAtMs, nonce, signature }: ShownPermit): boolean {
    const payload = permitPayload({ activityId: sku.activityId, skuId: sku.skuId, userId, expiresAtMs, nonce });
    const expected = createHmac('sha256', secret).update(payload).digest();
    const shown = Buffer.from(signature, 'base64url');
    return shown.length === expected.length && timingSafeEqual(shown, expected);
  }

  function problemOf(request: ValidReservation, nowMs: number): PermitProblem | 'FULL' | null {
    if (request.permit === null) return 'MISSING';
    const shown = parsePermit(request.permit);
    if (shown === null) return 'MALFORMED';
    if (nowMs >= shown.expiresAtMs) return 'EXPIRED';
    if (shown.expiresAtMs - nowMs > LIFETIME_MAX_MS) return 'TOO_LONG';
    // The dearest look comes last but one, and before anything is remembered: a forged permit must not fill the memory.
    if (!isSigned(request, shown)) return 'FORGED';
    // Whose nonce: two users may draw the same one.
    const key = `${request.sku.skuId}:${request.userId}:${shown.nonce}`;
    const spentBy = current.get(key) ?? previous.get(key);
    if (spentBy === undefined) {
      if (current.size >= spentMax) return 'FULL';
      current.set(key, request.requestId);
      return null;
    }
    return spentBy === request.requestId ? null : 'SPENT';
  }

  return {
    name: 'permit',
    pass(request) {
      const nowMs = clock.nowMs();
      turn(nowMs);
      const problem = problemOf(request, nowMs);
      if (problem === null) return null;
      return problem === 'FULL' ? limited(request.requestId) : permitInvalid(request.requestId, problem);
    },
  };
}

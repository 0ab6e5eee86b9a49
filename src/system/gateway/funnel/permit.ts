/**
 * Permits (domain/permit.ts): signature, expiry, whose it is, and that it is used once. A nonce is spent by the first request id that shows it to any gateway; the same id
 * may show it again.
 *
 * All gateways share the book of spent nonces in Redis, and Redis's clock alone says when a permit is over: no gateway's own clock, and so no two gateways, can differ
 * about one permit. What a gateway remembers only spares questions: who has spent a nonce never changes, and the time that Redis told last, plus what has passed
 * here since, is never ahead of Redis. Without the book there is no permit that is known to be good: fail closed.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

import { parsePermit, permitPayload, type ShownPermit } from '../../../domain/permit.js';
import type { SkuKey } from '../../../domain/ids.js';
import { createCallBatcher } from '../../stock/call-batcher.js';
import type { CallResult } from '../../stock/call-failure.js';
import { PERMIT_LIFETIME_MAX_MS, type EntryBook, type NonceUse, type ShownNonce } from '../../stock/entry-book.js';
import { limited, permitInvalid, unavailable } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer, LayerVerdict } from './layer.js';

export type PermitProblem = 'MISSING' | 'MALFORMED' | 'EXPIRED' | 'TOO_LONG' | 'FORGED' | 'SPENT';

export interface PermitLayerOptions {
  readonly secret: string;
  /** Nonces of one hour of expiry that the book may hold, and nonces that this gateway remembers. */
  readonly spentMax: number;
  readonly book: Pick<EntryBook, 'spend'>;
  readonly skus: readonly SkuKey[];
  /** Monotonic milliseconds; for tests. */
  readonly nowMs?: () => number;
}

class PermitLayer implements FunnelLayer {
  readonly name = 'permit';
  readonly #options: PermitLayerOptions;
  readonly #nowMs: () => number;
  readonly #spend: ReadonlyMap<string, (shown: ShownNonce) => Promise<CallResult<NonceUse>>>;
  /** `sku:user:nonce` → the request id that has spent it. `#recent` takes new ones; after a permit's longest life `#older` holds only expired ones. */
  #recent = new Map<string, string>();
  #older = new Map<string, string>();
  #turnedAtMs: number;
  /** Redis's clock minus ours, as of its last answer; null: it has not answered yet. */
  #serverAheadMs: number | null = null;

  constructor(options: PermitLayerOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#turnedAtMs = this.#nowMs();
    this.#spend = new Map(options.skus.map((sku) => [sku.skuId, createCallBatcher((shown: readonly ShownNonce[]) => options.book.spend(sku, shown, options.spentMax))]));
  }

  pass(request: ValidReservation): LayerVerdict | Promise<LayerVerdict> {
    const { permit, requestId } = request;
    if (permit === null) return permitInvalid(requestId, 'MISSING');
    const shown = parsePermit(permit);
    if (shown === null) return permitInvalid(requestId, 'MALFORMED');
    const leftMs = this.#serverAheadMs === null ? null : shown.expiresAtMs - (this.#nowMs() + this.#serverAheadMs);
    if (leftMs !== null && leftMs <= 0) return permitInvalid(requestId, 'EXPIRED');
    // Before anything is remembered or asked: a forged permit must not fill a memory or cost a call.
    if (!this.#isSigned(request, shown)) return permitInvalid(requestId, 'FORGED');
    this.#turn();
    const spentBy = this.#spentBy(keyOf(request, shown.nonce));
    if (spentBy !== undefined) return spentBy === requestId ? null : permitInvalid(requestId, 'SPENT');
    return this.#ask(request, shown);
  }

  async #ask({ sku, userId, requestId }: ValidReservation, { nonce, expiresAtMs }: ShownPermit): Promise<LayerVerdict> {
    const spend = this.#spend.get(sku.skuId);
    const reply = await spend?.({ userId, nonce, requestId, expiresAtMs });
    if (reply?.outcome !== 'done') return unavailable(requestId);
    const { use, spentBy, nowMs } = reply.value;
    this.#serverAheadMs = nowMs - this.#nowMs();
    const owner = use === 'GOOD' ? requestId : spentBy;
    if (owner !== null && this.#recent.size < this.#options.spentMax) this.#recent.set(`${sku.skuId}:${userId}:${nonce}`, owner);
    if (use === 'GOOD') return null;
    return use === 'FULL' ? limited(requestId) : permitInvalid(requestId, use);
  }

  #isSigned({ sku, userId }: ValidReservation, { expiresAtMs, nonce, signature }: ShownPermit): boolean {
    const payload = permitPayload({ activityId: sku.activityId, skuId: sku.skuId, userId, expiresAtMs, nonce });
    const expected = createHmac('sha256', this.#options.secret).update(payload).digest();
    const shown = Buffer.from(signature, 'base64url');
    return shown.length === expected.length && timingSafeEqual(shown, expected);
  }

  #spentBy(key: string): string | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  #turn(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#turnedAtMs < PERMIT_LIFETIME_MAX_MS) return;
    this.#older = this.#recent;
    this.#recent = new Map();
    this.#turnedAtMs = nowMs;
  }
}

/** Whose nonce: two users may draw the same one. */
function keyOf({ sku, userId }: ValidReservation, nonce: string): string {
  return `${sku.skuId}:${userId}:${nonce}`;
}

export function createPermitLayer(options: PermitLayerOptions): FunnelLayer {
  return new PermitLayer(options);
}

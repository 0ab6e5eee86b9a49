/**
 * What all gateways of a namespace know together about who has been let in: spent nonces of permits, and the places of unpaid holds. In Redis, beside the stock and apart
 * from its scripts: only a request that every cheaper layer has let pass asks here, and one that is refused from the sold-out mark never does.
 */
import assert from 'node:assert';

import type { ActivityId, RequestId, SkuKey, UserId } from '../../domain/ids.js';
import type { CallResult } from './call-failure.js';
import { holdsKey, permitsKey } from './keys.js';
import type { StockConnection } from './stock-connection.js';

/** A permit that is good for longer than this is refused: its nonce could not be remembered in bounded memory. */
export const PERMIT_LIFETIME_MAX_MS = 24 * 3_600_000;
/** Nonces of permits that end in the same hour share a key, and so go together. */
const SPAN_MS = 3_600_000;
/** They stay for longer than any two clocks differ by. */
const KEPT_AFTER_MS = 3_600_000;

export interface ShownNonce {
  readonly userId: UserId;
  readonly nonce: string;
  readonly requestId: RequestId;
  readonly expiresAtMs: number;
}

/** `spentBy`: with SPENT, the request id that has spent it. */
export interface NonceUse {
  readonly use: 'GOOD' | 'SPENT' | 'EXPIRED' | 'TOO_LONG' | 'FULL';
  readonly spentBy: RequestId | null;
  /** Redis's clock at the decision, ms since the epoch. */
  readonly nowMs: number;
}

/** Of one request. Limits are of an activity, over all its SKUs. */
export interface HoldAsked {
  readonly sku: SkuKey;
  readonly requestId: RequestId;
  readonly userId: UserId;
  readonly deviceId: string | null;
  /** Names this very try: one request that comes to several gateways has one place, and each of them a share in it. */
  readonly share: string;
}

/** What `dropHolds` gives back. `share` null: the whole place, whoever has a share in it. */
export interface HoldGivenBack {
  readonly holder: string;
  readonly sku: SkuKey;
  readonly requestId: RequestId;
  readonly share: string | null;
}

export interface Hold {
  readonly sku: SkuKey;
  readonly requestId: RequestId;
  readonly ageMs: number;
}

export type HoldReply =
  /** It had its place before, or has one now. */
  | { readonly kind: 'held' | 'taken' }
  | { readonly kind: 'full'; readonly whose: 'USER' | 'DEVICE'; readonly holds: readonly Hold[] };

export interface HoldLimits {
  readonly perUser: number;
  readonly perDevice: number;
  /** No hold lasts longer. */
  readonly lastsMs: number;
}

/** A holder as `dropHolds` names it. */
export function holderOf(kind: 'user' | 'device', id: string): string {
  return `${kind === 'user' ? 'u' : 'd'}:${id}`;
}

/** No call rejects for an operating failure; after `unknown` it may have had its effect. At most 64 items a call. */
export interface EntryBook {
  spend(sku: SkuKey, shown: readonly ShownNonce[], noncesMax: number): Promise<CallResult<readonly NonceUse[]>>;
  takeHolds(activityId: ActivityId, asked: readonly HoldAsked[], limits: HoldLimits): Promise<CallResult<readonly HoldReply[]>>;
  dropHolds(activityId: ActivityId, places: readonly HoldGivenBack[]): Promise<CallResult<number>>;
}

export function createEntryBook(connection: StockConnection, redisPrefix: string): EntryBook {
  /** All of one span. */
  async function spendOfSpan(sku: SkuKey, span: number, shown: readonly ShownNonce[], noncesMax: number): Promise<CallResult<readonly NonceUse[]>> {
    const text = shown.map(({ userId, nonce, requestId, expiresAtMs }) => `${userId}:${nonce} ${requestId} ${String(expiresAtMs)}`).join(' ');
    const goesAtMs = (span + 1) * SPAN_MS + KEPT_AFTER_MS;
    const result = await connection.script('spend_permits', [permitsKey(redisPrefix, sku, span)], [goesAtMs, PERMIT_LIFETIME_MAX_MS, noncesMax, text]);
    if (result.outcome !== 'done') return result;
    const [, now, ...decisions] = result.value;
    return { outcome: 'done', value: decisions.map((decision) => nonceUse(decision, Number(now))) };
  }

  return {
    async spend(sku, shown, noncesMax) {
      const spans = groupBySpan(shown);
      const uses = new Map<ShownNonce, NonceUse>();
      for (const [span, ofSpan] of spans) {
        const result = await spendOfSpan(sku, span, ofSpan, noncesMax);
        if (result.outcome !== 'done') return result;
        assert(result.value.length === ofSpan.length, 'spend_permits answered another number of decisions');
        result.value.forEach((use, index) => {
          const each = ofSpan[index];
          if (each !== undefined) uses.set(each, use);
        });
      }
      return {
        outcome: 'done',
        value: shown.map((each) => {
          const use = uses.get(each);
          assert(use !== undefined, 'a nonce that was shown was not decided');
          return use;
        }),
      };
    },
    async takeHolds(activityId, asked, { perUser, perDevice, lastsMs }) {
      const text = asked.map(({ sku, requestId, userId, deviceId, share }) => `${sku.skuId}/${requestId} ${userId} ${deviceId ?? '-'} ${share}`).join(' ');
      const result = await connection.script('take_holds', [holdsKey(redisPrefix, activityId)], [perUser, perDevice, lastsMs, text]);
      if (result.outcome !== 'done') return result;
      const [, now, ...decisions] = result.value;
      return { outcome: 'done', value: decisions.map((decision) => holdReply(activityId, decision, Number(now))) };
    },
    async dropHolds(activityId, places) {
      const text = places.map(({ holder, sku, requestId, share }) => `${holder} ${sku.skuId}/${requestId} ${share ?? '*'}`).join(' ');
      const result = await connection.script('drop_holds', [holdsKey(redisPrefix, activityId)], [text]);
      return result.outcome === 'done' ? { outcome: 'done', value: Number(result.value[1]) } : result;
    },
  };
}

function spanOf({ expiresAtMs }: ShownNonce): number {
  return Math.floor(expiresAtMs / SPAN_MS);
}

function groupBySpan(shown: readonly ShownNonce[]): Map<number, ShownNonce[]> {
  const spans = new Map<number, ShownNonce[]>();
  for (const each of shown) {
    const ofSpan = spans.get(spanOf(each));
    if (ofSpan === undefined) spans.set(spanOf(each), [each]);
    else ofSpan.push(each);
  }
  return spans;
}

function nonceUse(decision: string, nowMs: number): NonceUse {
  const [use = '', spentBy] = decision.split(' ');
  assert(use === 'GOOD' || use === 'SPENT' || use === 'EXPIRED' || use === 'TOO_LONG' || use === 'FULL', `not a use of a nonce: ${decision}`);
  return { use, spentBy: spentBy ?? null, nowMs };
}

function holdReply(activityId: ActivityId, decision: string, nowMs: number): HoldReply {
  const [whose, ...rest] = decision.trim().split(' ');
  if (whose === 'HELD') return { kind: 'held' };
  if (whose === 'TAKEN') return { kind: 'taken' };
  assert(whose === 'USER' || whose === 'DEVICE', `not a reply about holds: ${decision}`);
  const holds: Hold[] = [];
  for (let at = 0; at + 1 < rest.length; at += 2) {
    const [skuId = '', requestId = ''] = (rest[at] ?? '').split('/');
    holds.push({ sku: { activityId, skuId }, requestId, ageMs: nowMs - Number(rest[at + 1]) });
  }
  return { kind: 'full', whose, holds };
}

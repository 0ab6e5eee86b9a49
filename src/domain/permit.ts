/**
 * The permit that a client shows with a reservation (paper `004` §2): proof that it passed the qualification for one activity, SKU and user, until a
 * time. It never stands for stock, and a stolen or repeated one makes no second order.
 *
 * Header `X-Permit`: `v1.<expiresAtMs>.<nonce>.<signature>`. Signature: base64url HMAC-SHA256 with the secret `RoleTuning.funnel.permitSecret` over the lines
 * of `permitPayload`. Whoever issues permits (the lab's generator; in production a qualification service) makes one with
 *
 *     encodePermit(claims, (payload) => createHmac('sha256', secret).update(payload).digest('base64url'))
 *
 * and a fresh nonce for each request id: the first request id that shows a nonce to any gateway spends it, and only that id may show it again (its repeats carry the same
 * permit). Wrong, expired, another's or spent: `403 PERMIT_INVALID`. Without `layers.permit` the header is not looked at.
 */
import type { ActivityId, SkuId, UserId } from './ids.js';

export const PERMIT_HEADER = 'X-Permit';
/** Device of the client, 1–64 of `A-Za-z0-9_.:-`, chosen by it; optional, and malformed ones are INVALID. Bounds rate and unpaid holds, proves nothing. */
export const DEVICE_HEADER = 'X-Device-Id';

export interface PermitClaims {
  readonly activityId: ActivityId;
  readonly skuId: SkuId;
  readonly userId: UserId;
  /** Milliseconds since the epoch, by the clock of Redis; from then on the permit is no longer good. At most 24 hours ahead. */
  readonly expiresAtMs: number;
  /** 8–32 of `A-Za-z0-9_-`, fresh for each request id. */
  readonly nonce: string;
}

/** What of a permit stands in its text; activity, SKU and user come from the request that shows it. */
export interface ShownPermit {
  readonly expiresAtMs: number;
  readonly nonce: string;
  readonly signature: string;
}

/** Base64url HMAC-SHA256 of the payload. Handed in, since this folder uses no package. */
export type PermitSigner = (payload: string) => string;

const PERMIT = /^v1\.([1-9][0-9]{0,15})\.([A-Za-z0-9_-]{8,32})\.([A-Za-z0-9_-]{43})$/;

/** The text that is signed. No field can hold a line feed, so no two sets of claims share a payload. */
export function permitPayload({ activityId, skuId, userId, expiresAtMs, nonce }: PermitClaims): string {
  return `seckill-permit-v1\n${activityId}\n${skuId}\n${userId}\n${String(expiresAtMs)}\n${nonce}`;
}

export function encodePermit(claims: PermitClaims, sign: PermitSigner): string {
  return `v1.${String(claims.expiresAtMs)}.${claims.nonce}.${sign(permitPayload(claims))}`;
}

/** The parts of a permit's text, or null when it has another form. Says nothing about its signature. */
export function parsePermit(text: string): ShownPermit | null {
  const [, expiresAt, nonce, signature] = PERMIT.exec(text) ?? [];
  if (expiresAt === undefined || nonce === undefined || signature === undefined) return null;
  return { expiresAtMs: Number(expiresAt), nonce, signature };
}

/**
 * What a client sent, checked whole: every problem is found at once, so that a client mends its request in one go.
 */
import { createHash } from 'node:crypto';

import { isPositiveInt8, isRequestId, type RequestId, type SkuKey, type UserId } from '../../domain/ids.js';

/** A reservation as it came over any transport. */
export interface RawReservation {
  readonly activityId: string;
  readonly skuId: string;
  /** `Idempotency-Key`. */
  readonly requestId: string | undefined;
  /** `X-User-Id`. */
  readonly userId: string | undefined;
  /** `X-Permit`. */
  readonly permit?: string | undefined;
  /** `X-Device-Id`. */
  readonly deviceId?: string | undefined;
  /** JSON text. */
  readonly body: string;
}

export interface ValidReservation {
  readonly sku: SkuKey;
  readonly requestId: RequestId;
  readonly userId: UserId;
  readonly payloadHash: string;
  /** As shown; checked by the permit layer alone. */
  readonly permit: string | null;
  readonly deviceId: string | null;
}

export type Validated<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly string[]; readonly requestId: RequestId | null };

const CLIENT_TAG_MAX_LENGTH = 64;
const FIELDS: ReadonlySet<string> = new Set(['quantity', 'clientTag']);

/**
 * Hex SHA-256 of the canonical payload: `{"quantity":1,"clientTag":…}` in this order, null for a missing tag. The user is left out: who owns
 * a request id is compared beside the hash, so that "another user" and "another payload" stay two findings.
 */
export function payloadHashOf(clientTag: string | null): string {
  if (clientTag === null) return HASH_WITHOUT_TAG;
  return createHash('sha256').update(canonicalPayload(clientTag)).digest('hex');
}

function canonicalPayload(clientTag: string | null): string {
  return JSON.stringify({ quantity: 1, clientTag });
}

/** Nearly every request has no tag: hashing it anew would be the dearest part of validation. */
const HASH_WITHOUT_TAG = createHash('sha256').update(canonicalPayload(null)).digest('hex');

function addressProblems(activityId: string, skuId: string, requestId: string | undefined, userId: string | undefined, idName: string): string[] {
  const problems: string[] = [];
  if (!isPositiveInt8(activityId)) problems.push('the activity id must be a positive whole number');
  if (!isPositiveInt8(skuId)) problems.push('the SKU id must be a positive whole number');
  if (requestId === undefined) problems.push(`${idName} is missing`);
  else if (!isRequestId(requestId)) problems.push(`${idName} must be 1–64 of A-Z a-z 0-9 _ . : -`);
  if (userId === undefined) problems.push('X-User-Id is missing');
  else if (!isPositiveInt8(userId)) problems.push('X-User-Id must be a positive whole number');
  return problems;
}

function bodyProblems(body: string): { readonly problems: readonly string[]; readonly clientTag: string | null } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { problems: ['the body is not JSON'], clientTag: null };
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return { problems: ['the body must be a JSON object'], clientTag: null };
  const { clientTag } = parsed as { clientTag?: unknown };
  return { problems: payloadProblems(parsed, FIELDS), clientTag: typeof clientTag === 'string' ? clientTag : null };
}

/** Of the payload's fields, and of every field that `known` does not have. */
function payloadProblems(payload: object, known: ReadonlySet<string>): string[] {
  const { quantity, clientTag } = payload as { quantity?: unknown; clientTag?: unknown };
  const problems: string[] = [];
  if (quantity !== 1) problems.push('quantity must be 1');
  const tagHolds = clientTag === undefined || (typeof clientTag === 'string' && clientTag.length <= CLIENT_TAG_MAX_LENGTH);
  if (!tagHolds) problems.push(`clientTag must be text of at most ${String(CLIENT_TAG_MAX_LENGTH)} characters`);
  // An unknown field would not be part of the payload hash: two different requests would count as the same.
  for (const name in payload) if (!known.has(name)) problems.push(`unknown field ${JSON.stringify(name.slice(0, 64))}`);
  return problems;
}

/** What nearly every client sends. */
export const PLAIN_BODY = '{"quantity":1}';

let lastActivityId = '';
let lastSkuId = '';

/** Remembers the last good ones: in a sale nearly all requests are for one SKU. */
function isSkuOk(activityId: string, skuId: string): boolean {
  if (activityId === lastActivityId && skuId === lastSkuId) return true;
  if (!isPositiveInt8(activityId) || !isPositiveInt8(skuId)) return false;
  lastActivityId = activityId;
  lastSkuId = skuId;
  return true;
}

/** Plain and without a problem; null: to be looked at field by field. */
function plainReservation({ activityId, skuId, requestId, userId, permit, deviceId, body }: RawReservation): Validated<ValidReservation> | null {
  if (body !== PLAIN_BODY || deviceId !== undefined || requestId === undefined || userId === undefined) return null;
  if (!isRequestId(requestId) || !isPositiveInt8(userId) || !isSkuOk(activityId, skuId)) return null;
  return { ok: true, value: { sku: { activityId, skuId }, requestId, userId, payloadHash: HASH_WITHOUT_TAG, permit: permit ?? null, deviceId: null } };
}

/** The request, or every problem found in it. */
export function validateReservation(raw: RawReservation): Validated<ValidReservation> {
  const plain = plainReservation(raw);
  if (plain !== null) return plain;
  const { activityId, skuId, requestId, userId } = raw;
  const body = bodyProblems(raw.body);
  const { permit = null, deviceId = null } = raw;
  const problems = [...addressProblems(activityId, skuId, requestId, userId, 'Idempotency-Key'), ...body.problems];
  // A device id has the form of a request id.
  if (deviceId !== null && !isRequestId(deviceId)) problems.push('X-Device-Id must be 1–64 of A-Z a-z 0-9 _ . : -');
  if (problems.length > 0 || requestId === undefined || userId === undefined) {
    return { ok: false, problems, requestId: requestId !== undefined && isRequestId(requestId) ? requestId : null };
  }
  return { ok: true, value: { sku: { activityId, skuId }, requestId, userId, payloadHash: payloadHashOf(body.clientTag), permit, deviceId } };
}

const ITEM_FIELDS: ReadonlySet<string> = new Set([...FIELDS, 'requestId', 'userId', 'permit', 'deviceId']);

function itemIdProblems(requestId: unknown, userId: unknown, deviceId: unknown): string[] {
  const problems: string[] = [];
  // Only text: a number beyond 2^53 would be another user's id by now.
  if (typeof requestId !== 'string' || !isRequestId(requestId)) problems.push('requestId must be text, 1–64 of A-Z a-z 0-9 _ . : -');
  if (typeof userId !== 'string' || !isPositiveInt8(userId)) problems.push('userId must be a positive whole number as text');
  if (deviceId !== undefined && (typeof deviceId !== 'string' || !isRequestId(deviceId))) problems.push('deviceId must be text, 1–64 of A-Z a-z 0-9 _ . : -');
  return problems;
}

interface ItemFields {
  readonly requestId?: unknown;
  readonly userId?: unknown;
  readonly permit?: unknown;
  readonly deviceId?: unknown;
  readonly clientTag?: unknown;
  readonly quantity?: unknown;
}

/** One unit, and no field but the ids besides. */
function isPlainItem(item: ItemFields): boolean {
  return item.quantity === 1 && Object.keys(item).length === 3;
}

/** An item of a batch (domain/batch-contract.ts). The SKU is checked already. */
export function validateItem(sku: SkuKey, item: unknown): Validated<ValidReservation> {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return { ok: false, problems: ['an item must be a JSON object'], requestId: null };
  const { requestId, userId, permit, deviceId, clientTag } = item as ItemFields;
  // Nearly all items are good and plain: they pay for no list of problems.
  if (isPlainItem(item) && typeof requestId === 'string' && typeof userId === 'string' && isRequestId(requestId) && isPositiveInt8(userId)) {
    return plainItem(sku, requestId, userId);
  }
  const problems = [...itemIdProblems(requestId, userId, deviceId), ...payloadProblems(item, ITEM_FIELDS)];
  if (permit !== undefined && typeof permit !== 'string') problems.push('permit must be text');
  if (problems.length > 0 || typeof requestId !== 'string' || typeof userId !== 'string') {
    return { ok: false, problems, requestId: typeof requestId === 'string' && isRequestId(requestId) ? requestId : null };
  }
  const payloadHash = payloadHashOf(typeof clientTag === 'string' ? clientTag : null);
  return { ok: true, value: { sku, requestId, userId, payloadHash, permit: typeof permit === 'string' ? permit : null, deviceId: typeof deviceId === 'string' ? deviceId : null } };
}

/** An item with one unit and nothing else, of ids that have been checked. */
export function plainItem(sku: SkuKey, requestId: string, userId: string): Validated<ValidReservation> {
  return { ok: true, value: { sku, requestId, userId, payloadHash: HASH_WITHOUT_TAG, permit: null, deviceId: null } };
}

/** An item that is ids alone, with the payload `{"quantity":1}`. The SKU is checked already. */
export function validateIds(sku: SkuKey, requestId: string, userId: string): Validated<ValidReservation> {
  if (!isRequestId(requestId) || !isPositiveInt8(userId)) {
    return { ok: false, problems: itemIdProblems(requestId, userId, undefined), requestId: isRequestId(requestId) ? requestId : null };
  }
  return plainItem(sku, requestId, userId);
}

export interface RawQuery {
  readonly activityId: string;
  readonly skuId: string;
  /** From the path. */
  readonly requestId: string;
  /** `X-User-Id`. */
  readonly userId: string | undefined;
}

export type ValidQuery = Pick<ValidReservation, 'sku' | 'requestId' | 'userId'>;

/** The query, or every problem found in it. */
export function validateQuery(raw: RawQuery): Validated<ValidQuery> {
  const { activityId, skuId, requestId, userId } = raw;
  const problems = addressProblems(activityId, skuId, requestId, userId, 'the request id');
  if (problems.length > 0 || userId === undefined) return { ok: false, problems, requestId: isRequestId(requestId) ? requestId : null };
  return { ok: true, value: { sku: { activityId, skuId }, requestId, userId } };
}

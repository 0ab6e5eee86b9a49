/**
 * The message "create this order" (paper `000` §8.3), as JSON in the value of a record on the orders topic. Key: the reservation id, so
 * that one SKU spreads over partitions; correctness never depends on order (CASES C25).
 */
import { isPositiveInt8, isRequestId, type ActivityId, type MessageId, type RequestId, type ReservationId, type SkuId, type UserId } from './ids.js';

export interface OrderMessage {
  readonly schemaVersion: 1;
  readonly messageId: MessageId;
  readonly reservationId: ReservationId;
  readonly requestId: RequestId;
  readonly activityId: ActivityId;
  readonly activityVersion: string;
  readonly skuId: SkuId;
  readonly userId: UserId;
  readonly purchaseNo: number;
  readonly quantity: 1;
  /** Hex SHA-256 of the canonical payload. */
  readonly payloadHash: string;
  /** Milliseconds since the epoch, by the gateway that reserved. */
  readonly reservedAtMs: number;
  /** After this the consumer refuses the message. */
  readonly expiresAtMs: number;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** What `JSON.stringify` would give, put together by hand: nothing in it needs escaping, since ids, digits and hashes have closed alphabets, and ten thousand come at once. */
export function encodeOrderMessage({ messageId, reservationId, requestId, activityId, activityVersion, skuId, userId, purchaseNo, payloadHash, reservedAtMs, expiresAtMs }: OrderMessage): string {
  return `{"schemaVersion":1,"messageId":"${messageId}","reservationId":"${reservationId}","requestId":"${requestId}","activityId":"${activityId}","activityVersion":"${activityVersion}","skuId":"${skuId}",` +
    `"userId":"${userId}","purchaseNo":${String(purchaseNo)},"quantity":1,"payloadHash":"${payloadHash}","reservedAtMs":${String(reservedAtMs)},"expiresAtMs":${String(expiresAtMs)}}`;
}

/** The message, or every problem found. Never throws: a poison message is data. */
export function parseOrderMessage(text: string): { ok: true; message: OrderMessage } | { ok: false; problems: string[] } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { ok: false, problems: ['not JSON'] };
  }
  if (typeof parsed !== 'object' || parsed === null) return { ok: false, problems: ['not an object'] };
  const value = parsed as Record<string, unknown>;
  const problems: string[] = [];
  const need = (field: keyof OrderMessage, holds: boolean): void => {
    if (!holds) problems.push(`${field} is missing or malformed`);
  };
  const isText = (field: unknown): field is string => typeof field === 'string';
  need('schemaVersion', value['schemaVersion'] === 1);
  for (const field of ['messageId', 'reservationId'] as const) need(field, isText(value[field]) && UUID.test(value[field]));
  need('requestId', isText(value['requestId']) && isRequestId(value['requestId']));
  for (const field of ['activityId', 'skuId', 'userId'] as const) need(field, isText(value[field]) && isPositiveInt8(value[field]));
  need('activityVersion', isText(value['activityVersion']) && /^[0-9]{1,19}$/.test(value['activityVersion']));
  need('purchaseNo', Number.isInteger(value['purchaseNo']) && (value['purchaseNo'] as number) >= 1);
  need('quantity', value['quantity'] === 1);
  need('payloadHash', isText(value['payloadHash']) && /^[0-9a-f]{64}$/.test(value['payloadHash']));
  for (const field of ['reservedAtMs', 'expiresAtMs'] as const) need(field, Number.isSafeInteger(value[field]));
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, message: parsed as OrderMessage };
}

/**
 * Ids stay strings end to end, since order ids and user ids may pass 2^53 (pg returns int8 as string for the same reason).
 */

/** 1–64 of `A-Za-z0-9_.:-`. Scope: activity and SKU. Chosen by the client. */
export type RequestId = string;
/** UUIDv7, made by the gateway before the Lua call. */
export type ReservationId = string;
/** UUIDv7, made with the reservation id and kept by every resend. */
export type MessageId = string;
/** Decimal string of a positive int8. */
export type UserId = string;
export type OrderId = string;
export type ActivityId = string;
export type SkuId = string;
/** 1–64 of `A-Za-z0-9_.:-`, said by the client in `X-Device-Id`. */
export type DeviceId = string;

export interface SkuKey {
  readonly activityId: ActivityId;
  readonly skuId: SkuId;
}

const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,64}$/;
const INT8 = /^[1-9][0-9]{0,18}$/;
const INT8_MAX = 9223372036854775807n;
const INT8_DIGITS = 19;

export function isRequestId(text: string): boolean {
  return REQUEST_ID.test(text);
}

/** A positive int8 in decimal, without leading zeros. */
export function isPositiveInt8(text: string): boolean {
  // Only the longest can be too large, and BigInt is the dearest part of a request's checks.
  return INT8.test(text) && (text.length < INT8_DIGITS || BigInt(text) <= INT8_MAX);
}

/**
 * The packed form of a record in the `requests` hash: thirteen fields joined by `|`. One string per reservation instead of a hash of its
 * own halves the memory and the cost of a reservation, since creating keys is what a reserve script pays for.
 *
 * `state|user|payloadHash|reservation|message|activityVersion|purchaseNo|reservedAtMs|expiresAtMs|appliedVersion|unitReturned|order|reason`
 *
 * State comes first and user and hash next: the scripts read those without taking the rest apart. The request id is the hash field.
 */
import assert from 'node:assert';

import { isPositiveInt8, isRequestId, type RequestId } from '../../domain/ids.js';
import { RedisRecordState } from '../../domain/status-codes.js';
import type { ReserveRequest, StockRecord } from './stock-port.js';

/** Of a record rebuilt from durable facts that no longer know it: any payload of the same user is taken for the same. */
export const UNKNOWN_PAYLOAD_HASH = '00000000';

const STATES: ReadonlySet<string> = new Set(Object.values(RedisRecordState));
const FIELD_COUNT = 13;
const ID = /^[0-9A-Za-z_-]{1,64}$/;
const HASH = /^[0-9a-f]{8,128}$/;
const DIGITS = /^[0-9]{1,19}$/;
const CODE = /^[A-Z0-9_]{0,64}$/;

/** The packed record. Throws (a bug) when a field would break the format: nothing malformed may reach a script. */
export function packRecord(record: StockRecord): string {
  const { requestId, userId, payloadHash, reservationId, messageId, activityVersion } = record;
  // The text of an assertion that holds would be made all the same, once a reservation.
  if (!isRequestId(requestId)) assert.fail(`not a request id: ${JSON.stringify(requestId)}`);
  if (!isPositiveInt8(userId)) assert.fail(`not a user id: ${JSON.stringify(userId)}`);
  if (!HASH.test(payloadHash)) assert.fail(`not a payload hash: ${JSON.stringify(payloadHash)}`);
  assert(ID.test(reservationId) && ID.test(messageId), 'a reservation or message id is malformed');
  if (!DIGITS.test(activityVersion)) assert.fail(`not an activity version: ${JSON.stringify(activityVersion)}`);
  assert(Number.isSafeInteger(record.reservedAtMs) && Number.isSafeInteger(record.expiresAtMs), 'a time is not a whole number');
  return `${record.state}|${userId}|${payloadHash}|${reservationId}|${messageId}|${activityVersion}|${String(record.purchaseNo)}|${String(record.reservedAtMs)}|` +
    `${String(record.expiresAtMs)}|${String(record.appliedVersion)}|${record.unitReturned ? '1' : '0'}|${record.orderId ?? ''}|${record.reason ?? ''}`;
}

/** The record, or null when the text is not of this form (a damaged value is data, not a bug). */
export function unpackRecord(requestId: RequestId, text: string): StockRecord | null {
  const fields = text.split('|');
  if (fields.length !== FIELD_COUNT) return null;
  const [state, userId, payloadHash, reservationId, messageId, activityVersion, purchaseNo, reservedAt, expiresAt, version, returned, orderId, reason] =
    fields as [string, string, string, string, string, string, string, string, string, string, string, string, string];
  const numbers = [purchaseNo, reservedAt, expiresAt, version];
  const holds =
    STATES.has(state) && DIGITS.test(userId) && HASH.test(payloadHash) && ID.test(reservationId) && ID.test(messageId) &&
    DIGITS.test(activityVersion) && numbers.every((digits) => DIGITS.test(digits) && Number.isSafeInteger(Number(digits))) &&
    (returned === '0' || returned === '1') && (orderId === '' || DIGITS.test(orderId)) && CODE.test(reason);
  if (!holds) return null;
  return {
    requestId, userId, payloadHash, reservationId, messageId, activityVersion,
    state: state as RedisRecordState,
    purchaseNo: Number(purchaseNo),
    reservedAtMs: Number(reservedAt),
    expiresAtMs: Number(expiresAt),
    appliedVersion: Number(version),
    unitReturned: returned === '1',
    orderId: orderId === '' ? null : orderId,
    reason: reason === '' ? null : reason,
  };
}

/** The record that an accepted request becomes. */
export function freshRecord(request: ReserveRequest, activityVersion: string): StockRecord {
  return {
    requestId: request.requestId,
    userId: request.userId,
    reservationId: request.reservationId,
    messageId: request.messageId,
    payloadHash: request.payloadHash,
    state: RedisRecordState.PENDING,
    activityVersion,
    purchaseNo: 1,
    reservedAtMs: request.reservedAtMs,
    expiresAtMs: request.expiresAtMs,
    orderId: null,
    reason: null,
    appliedVersion: 0,
    unitReturned: false,
  };
}

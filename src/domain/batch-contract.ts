/**
 * Many customers' reservations in one request, for an edge in front of the gateway that carries them over few connections.
 *
 * `POST /v1/activities/:activityId/skus/:skuId/reservations:batch`, at most `BATCH_ITEMS_MAX` items and `BATCH_BODY_MAX_BYTES`. Answers `200` with one answer
 * per item in the order of the items, each with the status that a request of its own would have got; one bad item is one `INVALID` answer. `400`: the body is
 * no batch, and none of its items was looked at. Three forms, by `Content-Type`; the answer has the form of the request:
 *
 * - `application/json`: an array of items `{"requestId":"…","userId":"…","quantity":1}`, with `clientTag`, `permit` and `deviceId` as in a single request's body
 *   and headers. Answers: `{"status":410,"code":"SOLD_OUT","requestId":"…"}`, the fields of answer.ts that are not null or empty, and `location`.
 * - `application/x-ndjson`: the same items and answers, one a line.
 * - `application/octet-stream`: 32 bytes an item, big endian: u64 user id, u8 length of the request id (1…23), the request id in ASCII, zeros. The payload is
 *   `{"quantity":1}`. Answers of 32 bytes: u16 status, u8 code (index in `ANSWER_CODES_BY_NUMBER`), u8 zero, u32 `retryAfterMs` (0: none), 16 bytes
 *   reservation id (zeros: none), u64 order id (0: none). The Location follows from the request id.
 */
import { reservationsPath } from './answer.js';

export const BATCH_ITEMS_MAX = 512;
/** Twice what a full batch with permits takes. */
export const BATCH_BODY_MAX_BYTES = 262_144;

export const BATCH_FORMS = ['json', 'ndjson', 'binary'] as const;
export type BatchForm = (typeof BATCH_FORMS)[number];

export const BATCH_CONTENT_TYPES: Readonly<Record<BatchForm, string>> = {
  json: 'application/json', ndjson: 'application/x-ndjson', binary: 'application/octet-stream',
};

export const BINARY_ITEM_BYTES = 32;
export const BINARY_ANSWER_BYTES = 32;
/** Longer request ids do not fit into a binary item. */
export const BINARY_REQUEST_ID_MAX = 23;

export function batchPath(activityId: string, skuId: string): string {
  return `${reservationsPath(activityId, skuId)}:batch`;
}

/** The form of a body; null: none of ours. Parameters such as a charset do not matter. */
export function batchFormOf(contentType: string | undefined): BatchForm | null {
  const type = (contentType ?? BATCH_CONTENT_TYPES.json).split(';', 1)[0]?.trim().toLowerCase();
  return BATCH_FORMS.find((form) => BATCH_CONTENT_TYPES[form] === type) ?? null;
}

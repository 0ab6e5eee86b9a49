/**
 * Reads a JSON batch of plain items without a parser: nearly all batches are items of the three fields in the order of the contract without a blank, and making 300,000
 * objects a second only to check them field by field was the largest part of deciding them (docs/decisions/0025).
 *
 * Nothing is guessed: what is not byte for byte of this form is left to `JSON.parse`. Ids of closed alphabets have no escapes, so both readings are the same.
 */
import { BATCH_ITEMS_MAX } from '../../../domain/batch-contract.js';

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const BEFORE_REQUEST = bytesOf('{"requestId":"');
const BEFORE_USER = bytesOf('","userId":"');
const AFTER_USER = bytesOf('","quantity":1}');

const REQUEST_ID_MAX_LENGTH = 64;
/** All of them are below 2^63. */
const USER_ID_MAX_LENGTH = 18;

const OPENING = 0x5b;
const CLOSING = 0x5d;
const COMMA = 0x2c;
const ZERO = 48;
const NINE = 57;
/** By byte: 1 where a request id may hold it. */
const OF_REQUEST_ID = new Uint8Array(256);
for (const byte of bytesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-')) OF_REQUEST_ID[byte] = 1;

/** Where the ids of plain items lie in their body: of item i from [4i] to [4i + 1] the request's, from [4i + 2] to [4i + 3] the user's. */
export type PlainItems = Uint32Array;
export const NUMBERS_PER_ITEM = 4;
const scratch = new Uint32Array(BATCH_ITEMS_MAX * NUMBERS_PER_ITEM);

function startsWith(bytes: Uint8Array, text: Uint8Array, from: number): boolean {
  for (let at = 0; at < text.length; at += 1) if (bytes[from + at] !== text[at]) return false;
  return true;
}

/** The end of a request id that begins at `from`, which is the first byte that cannot be its own. */
function endOfRequestId(bytes: Uint8Array, from: number): number {
  let at = from;
  while (OF_REQUEST_ID[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

/** Whether all bytes from `from` to `to` are those of a request id. */
export function isOfRequestId(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) if (OF_REQUEST_ID[bytes[at] ?? 0] !== 1) return false;
  return true;
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at] ?? 0; byte >= ZERO && byte <= NINE; byte = bytes[at] ?? 0) at += 1;
  return at;
}

/** The items of a body in their order; null: not of this form, or more items than a batch may have. */
export function scanPlainItems(body: Buffer): PlainItems | null {
  if (body[0] !== OPENING) return null;
  let at = 1;
  for (let item = 0; item < scratch.length; item += NUMBERS_PER_ITEM) {
    if (!startsWith(body, BEFORE_REQUEST, at)) return null;
    const request = at + BEFORE_REQUEST.length;
    const requestEnd = endOfRequestId(body, request);
    if (requestEnd === request || requestEnd - request > REQUEST_ID_MAX_LENGTH || !startsWith(body, BEFORE_USER, requestEnd)) return null;
    const user = requestEnd + BEFORE_USER.length;
    const userEnd = endOfDigits(body, user);
    if (userEnd === user || userEnd - user > USER_ID_MAX_LENGTH || body[user] === ZERO || !startsWith(body, AFTER_USER, userEnd)) return null;
    scratch[item] = request;
    scratch[item + 1] = requestEnd;
    scratch[item + 2] = user;
    scratch[item + 3] = userEnd;
    at = userEnd + AFTER_USER.length;
    if (body[at] === CLOSING) return at + 1 === body.length ? scratch.slice(0, item + NUMBERS_PER_ITEM) : null;
    if (body[at] !== COMMA) return null;
    at += 1;
  }
  return null;
}

/** A text of its own, which holds on to nothing of the body. */
function textAt(body: Buffer, items: PlainItems, number: number): string {
  return body.toString('latin1', items[number], items[number + 1]);
}

export function requestIdOf(body: Buffer, items: PlainItems, item: number): string {
  return textAt(body, items, item * NUMBERS_PER_ITEM);
}

export function userIdOf(body: Buffer, items: PlainItems, item: number): string {
  return textAt(body, items, item * NUMBERS_PER_ITEM + 2);
}

export function countOf(items: PlainItems): number {
  return items.length / NUMBERS_PER_ITEM;
}

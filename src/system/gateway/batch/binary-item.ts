/** Items and answers of 32 bytes (domain/batch-contract.ts). */
import { BINARY_ANSWER_BYTES, BINARY_ITEM_BYTES, BINARY_REQUEST_ID_MAX } from '../../../domain/batch-contract.js';
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../../../domain/reason-codes.js';
import type { GatewayAnswer } from '../answers.js';
import { isOfRequestId } from './scan-json.js';

/** Within an item. */
const REQUEST_ID_AT = 9;

const NUMBER_OF_CODE: ReadonlyMap<AnswerCode, number> = new Map(ANSWER_CODES_BY_NUMBER.map((code, number) => [code, number]));

/** 2^48 and 2^32 as millions and rest: a u64 in decimal without BigInt, which costs five times as much and this runs once per item. */
const TOP_MILLIONS = 281_474_976;
const TOP_REST = 710_656;
const MIDDLE_MILLIONS = 4_294;
const MIDDLE_REST = 967_296;
const MILLION = 1_000_000;

const ZERO = 48;
const HALF_OF_U32 = 0x8000_0000;

/** Holds one number at a time, at its end. */
export const DIGITS = Buffer.alloc(20);

/** `readUInt32BE` checks its arguments, which takes three times as long. */
function u32At(bytes: Uint8Array, at: number): number {
  return (((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0;
}

/** Both digits of a number below a hundred at once: one division less. */
const TENS = Uint8Array.from({ length: 100 }, (_, pair) => ZERO + Math.floor(pair / 10));
const ONES = Uint8Array.from({ length: 100 }, (_, pair) => ZERO + (pair % 10));

function writePair(pair: number, at: number): void {
  DIGITS[at] = TENS[pair] ?? 0;
  DIGITS[at + 1] = ONES[pair] ?? 0;
}

/** Six digits of a number below a million, before `end`. */
function writeSix(number: number, end: number): void {
  // As a whole number: of one that may have a fraction each division would be one of those too.
  const six = number | 0;
  const four = six % 10_000;
  writePair((six / 10_000) | 0, end - 6);
  writePair((four / 100) | 0, end - 4);
  writePair(four % 100, end - 2);
}

/** The digits of a number below 2^32, as many as it has, before `end`; where they begin. */
function writeFirst(number: number, end: number): number {
  let at = end;
  let left = number >>> 0;
  for (; left >= 100; left = (left / 100) >>> 0) {
    at -= 2;
    writePair(left % 100, at);
  }
  at -= 2;
  writePair(left, at);
  return left < 10 ? at + 1 : at;
}

/** Writes the unsigned number at `at` in decimal to the end of `DIGITS`; where it begins. */
export function writeDigits(bytes: Buffer, at: number): number {
  const end = DIGITS.length;
  const high = u32At(bytes, at);
  const low = u32At(bytes, at + 4);
  if (high === 0) return writeFirst(low, end);
  const rest = (high >>> 16) * TOP_REST + (high & 0xffff) * MIDDLE_REST + low;
  const carry = Math.floor(rest / MILLION);
  const millions = (high >>> 16) * TOP_MILLIONS + (high & 0xffff) * MIDDLE_MILLIONS + carry;
  writeSix(rest - carry * MILLION, end);
  const trillions = Math.floor(millions / MILLION);
  if (trillions === 0) return writeFirst(millions, end - 6);
  writeSix(millions - trillions * MILLION, end - 6);
  return writeFirst(trillions, end - 12);
}

/** The unsigned number at `at` in decimal. */
export function decimalAt(bytes: Buffer, at: number): string {
  return DIGITS.toString('latin1', writeDigits(bytes, at));
}

export function requestIdStart(item: number): number {
  return item * BINARY_ITEM_BYTES + REQUEST_ID_AT;
}

/** Whatever the byte before the request id says. */
export function requestIdEnd(bytes: Buffer, item: number): number {
  return requestIdStart(item) + (bytes[requestIdStart(item) - 1] ?? 0);
}

/** Whether both ids are such that `validateIds` lets them pass. */
export function isBinaryItemValid(bytes: Buffer, item: number): boolean {
  const at = item * BINARY_ITEM_BYTES;
  const begin = requestIdStart(item);
  const end = requestIdEnd(bytes, item);
  if (end === begin || end - begin > BINARY_REQUEST_ID_MAX || !isOfRequestId(bytes, begin, end)) return false;
  // A user id is positive and below 2^63.
  const high = u32At(bytes, at);
  return high < HALF_OF_U32 && (high !== 0 || u32At(bytes, at + 4) !== 0);
}

/** Whatever the bytes say, checked by nobody: an item out of its form gets an id that no check lets pass. */
export function readBinaryItem(bytes: Buffer, item: number): { readonly requestId: string; readonly userId: string } {
  const begin = requestIdStart(item);
  const end = requestIdEnd(bytes, item);
  const requestId = end - begin > BINARY_REQUEST_ID_MAX ? '' : bytes.toString('latin1', begin, end);
  return { requestId, userId: decimalAt(bytes, item * BINARY_ITEM_BYTES) };
}

/** An item of ids that have been checked and fit. */
export function binaryItem(requestId: string, userId: string): Buffer {
  const bytes = Buffer.alloc(BINARY_ITEM_BYTES);
  bytes.writeBigUInt64BE(BigInt(userId));
  bytes[REQUEST_ID_AT - 1] = requestId.length;
  bytes.write(requestId, REQUEST_ID_AT, 'latin1');
  return bytes;
}

/** Where zeros were. */
export function writeBinaryAnswer(bytes: Buffer, item: number, { httpStatus, answer }: GatewayAnswer): void {
  const at = item * BINARY_ANSWER_BYTES;
  bytes.writeUInt16BE(httpStatus, at);
  bytes[at + 2] = NUMBER_OF_CODE.get(answer.code) ?? 255;
  bytes.writeUInt32BE(Math.min(answer.retryAfterMs ?? 0, 0xffff_ffff), at + 4);
  if (answer.reservationId !== null) bytes.write(answer.reservationId.replaceAll('-', ''), at + 8, 16, 'hex');
  if (answer.orderId !== null) bytes.writeBigUInt64BE(BigInt(answer.orderId), at + 24);
}

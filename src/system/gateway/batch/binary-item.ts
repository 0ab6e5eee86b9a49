/** Items and answers of 32 bytes (domain/batch-contract.ts). */
import { BINARY_ANSWER_BYTES, BINARY_ITEM_BYTES, BINARY_REQUEST_ID_MAX } from '../../../domain/batch-contract.js';
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../../../domain/reason-codes.js';
import type { GatewayAnswer } from '../answers.js';

const NUMBER_OF_CODE: ReadonlyMap<AnswerCode, number> = new Map(ANSWER_CODES_BY_NUMBER.map((code, number) => [code, number]));

/** 2^48 and 2^32 as millions and rest: a u64 in decimal without BigInt, which costs five times as much and this runs once per item. */
const TOP_MILLIONS = 281_474_976;
const TOP_REST = 710_656;
const MIDDLE_MILLIONS = 4_294;
const MIDDLE_REST = 967_296;
const MILLION = 1_000_000;

/** The unsigned number at `at` in decimal. */
export function decimalAt(bytes: Buffer, at: number): string {
  const top = bytes.readUInt16BE(at);
  const middle = bytes.readUInt16BE(at + 2);
  const low = bytes.readUInt32BE(at + 4);
  const rest = top * TOP_REST + middle * MIDDLE_REST + low;
  const carry = Math.floor(rest / MILLION);
  const millions = top * TOP_MILLIONS + middle * MIDDLE_MILLIONS + carry;
  const ending = rest - carry * MILLION;
  // Adding a million and dropping its leading 1 pads to six digits.
  return millions === 0 ? String(ending) : String(millions) + String(MILLION + ending).slice(1);
}

/** Whatever the bytes say, checked by nobody: an item out of its form gets an id that no check lets pass. */
export function readBinaryItem(bytes: Buffer, item: number): { readonly requestId: string; readonly userId: string } {
  const at = item * BINARY_ITEM_BYTES;
  const length = bytes[at + 8] ?? 0;
  const requestId = length > BINARY_REQUEST_ID_MAX ? '' : bytes.toString('latin1', at + 9, at + 9 + length);
  return { requestId, userId: decimalAt(bytes, at) };
}

export function writeBinaryAnswer(bytes: Buffer, item: number, { httpStatus, answer }: GatewayAnswer): void {
  const at = item * BINARY_ANSWER_BYTES;
  bytes.writeUInt16BE(httpStatus, at);
  bytes[at + 2] = NUMBER_OF_CODE.get(answer.code) ?? 255;
  bytes.writeUInt32BE(Math.min(answer.retryAfterMs ?? 0, 0xffff_ffff), at + 4);
  if (answer.reservationId !== null) bytes.write(answer.reservationId.replaceAll('-', ''), at + 8, 16, 'hex');
  if (answer.orderId !== null) bytes.writeBigUInt64BE(BigInt(answer.orderId), at + 24);
}

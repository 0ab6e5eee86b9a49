/**
 * Reads the answers of a batch, in place: three million small objects made by `JSON.parse` would be the generator's largest cost. Works on latin1 text, one character
 * a byte. The contract fixes the order of the fields (domain/batch-contract.ts, `answerText` of the gateway).
 */
import { BINARY_ANSWER_BYTES } from '../../domain/batch-contract.js';
import { NO_CODE, codeNumberOf } from '../http-answer.js';

/** The answer at hand: one object serves all, read before the next one. */
export interface EdgeAnswer {
  status: number;
  codeNumber: number;
  /** Number at the end of the request id, as plans make them; -1: the answer names no request. */
  requestNumber: number;
  reservationId: string | null;
  orderId: string | null;
  location: string | null;
}

/** Called once per answer, in order. */
export type OnEdgeAnswer = (item: number, answer: EdgeAnswer) => void;

function textField(text: string, mark: string, from: number, to: number): string | null {
  const at = text.indexOf(mark, from);
  if (at === -1 || at >= to) return null;
  const end = text.indexOf('"', at + mark.length);
  return end === -1 || end > to ? null : text.slice(at + mark.length, end);
}

/** Digits before the quote that ends the request id. */
function numberBefore(text: string, quote: number): number {
  let value = 0;
  let unit = 1;
  for (let at = quote - 1; at >= 0; at -= 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) break;
    value += digit * unit;
    unit *= 10;
  }
  return value;
}

const BEGIN = '{"status":';
const REQUEST = '"requestId":"';

/** How many answers the text holds; fewer than it should when it is not of the contract's form. */
export function readJsonAnswers(text: string, onAnswer: OnEdgeAnswer): number {
  const answer: EdgeAnswer = { status: 0, codeNumber: NO_CODE, requestNumber: -1, reservationId: null, orderId: null, location: null };
  /** From the begin of an answer to its request id. Most answers of a storm differ in that alone. */
  let sameHead = '';
  let item = 0;
  let at = text.startsWith(BEGIN, 1) ? 1 : -1;
  while (at !== -1) {
    const next = text.indexOf(`,${BEGIN}`, at + BEGIN.length);
    const end = next === -1 ? text.length - 1 : next;
    if (sameHead === '' || !text.startsWith(sameHead, at)) {
      const request = text.indexOf(REQUEST, at);
      sameHead = request === -1 || request > end ? '' : text.slice(at, request + REQUEST.length);
      answer.status = Number(text.slice(at + BEGIN.length, at + BEGIN.length + 3));
      answer.codeNumber = codeNumberOf(text.slice(at, end));
    }
    const quote = sameHead === '' ? -1 : text.indexOf('"', at + sameHead.length);
    answer.requestNumber = quote === -1 ? -1 : numberBefore(text, quote);
    // A refusal ends with its request id.
    const hasMore = quote !== -1 && quote + 2 < end;
    answer.reservationId = hasMore ? textField(text, '"reservationId":"', quote, end) : null;
    answer.orderId = hasMore ? textField(text, '"orderId":"', quote, end) : null;
    answer.location = hasMore ? textField(text, '"location":"', quote, end) : null;
    onAnswer(item, answer);
    item += 1;
    at = next === -1 ? -1 : next + 1;
  }
  return item;
}

function u32At(text: string, at: number): number {
  return text.charCodeAt(at) * 0x100_0000 + (text.charCodeAt(at + 1) << 16) + (text.charCodeAt(at + 2) << 8) + text.charCodeAt(at + 3);
}

function hexAt(text: string, at: number, bytes: number): string {
  return Buffer.from(text.slice(at, at + bytes), 'latin1').toString('hex');
}

export function readBinaryAnswers(text: string, onAnswer: OnEdgeAnswer): number {
  const count = Math.floor(text.length / BINARY_ANSWER_BYTES);
  const answer: EdgeAnswer = { status: 0, codeNumber: NO_CODE, requestNumber: -1, reservationId: null, orderId: null, location: null };
  for (let item = 0; item < count; item += 1) {
    const at = item * BINARY_ANSWER_BYTES;
    answer.status = (text.charCodeAt(at) << 8) + text.charCodeAt(at + 1);
    answer.codeNumber = text.charCodeAt(at + 2);
    // A UUIDv7 begins with the time, which is never 0.
    const hex = u32At(text, at + 8) === 0 ? null : hexAt(text, at + 8, 16);
    answer.reservationId = hex === null ? null : `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    answer.orderId = u32At(text, at + 24) === 0 && u32At(text, at + 28) === 0 ? null : BigInt(`0x${hexAt(text, at + 24, 8)}`).toString();
    onAnswer(item, answer);
  }
  return count;
}

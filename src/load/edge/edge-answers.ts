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

const BEGIN = '{"status":';
const REQUEST = '"requestId":"';
const COMMA = 44;

/** Of the text of one answer. */
function textField(text: string, mark: string): string | null {
  const at = text.indexOf(mark);
  if (at === -1) return null;
  const end = text.indexOf('"', at + mark.length);
  return end === -1 ? null : text.slice(at + mark.length, end);
}

/** An answer that is `head`, the rest of a request id, and nothing else; with what parts it from the next one. */
function patternOf(head: string): RegExp {
  return new RegExp(`${head.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}[^"\\\\]*"\\}[,\\]]`, 'y');
}

/** From the end of a match of that pattern to the last digit of the request id. */
const FROM_END_TO_DIGIT = 4;

/** Of the last answer that was read whole: nearly all answers of a storm are the same refusal. */
let lastHead = '';
let lastPattern = patternOf(BEGIN);

/** Reads one text from answer to answer. */
class AnswerReader {
  readonly answer: EdgeAnswer = { status: 0, codeNumber: NO_CODE, requestNumber: -1, reservationId: null, orderId: null, location: null };
  readonly #text: string;
  /** Matches answers like the last one, which differ in the request id alone. A pattern, since the text is a part of another one: looking at it character by character took three times as long. */
  #pattern: RegExp | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the answer that begins at `at`; where the next one begins, −1: there is none. Null: no answer begins here. */
  read(at: number): number | null {
    const text = this.#text;
    if (this.#pattern !== null) {
      this.#pattern.lastIndex = at;
      if (this.#pattern.test(text)) {
        const end = this.#pattern.lastIndex;
        this.answer.requestNumber = this.#numberBefore(end - FROM_END_TO_DIGIT);
        this.answer.reservationId = null;
        this.answer.orderId = null;
        this.answer.location = null;
        return text.charCodeAt(end - 1) === COMMA ? end : -1;
      }
    }
    return text.startsWith(BEGIN, at) ? this.#readWhole(at) : null;
  }

  /** The digits that end at `last`. */
  #numberBefore(last: number): number {
    const text = this.#text;
    let value = 0;
    let unit = 1;
    for (let at = last; at >= 0; at -= 1) {
      const digit = text.charCodeAt(at) - 48;
      if (digit < 0 || digit > 9) break;
      value += digit * unit;
      unit *= 10;
    }
    return value;
  }

  #readWhole(at: number): number {
    const text = this.#text;
    const next = text.indexOf(`,${BEGIN}`, at + BEGIN.length);
    // Texts of others inside of an answer have their quotes escaped, so this cannot be one of theirs.
    const whole = text.slice(at, next === -1 ? text.length - 1 : next);
    const { answer } = this;
    const request = whole.indexOf(REQUEST);
    const head = request === -1 ? '' : whole.slice(0, request + REQUEST.length);
    answer.status = Number(whole.slice(BEGIN.length, BEGIN.length + 3));
    answer.codeNumber = codeNumberOf(whole);
    answer.requestNumber = request === -1 ? -1 : this.#numberBefore(text.indexOf('"', at + head.length) - 1);
    answer.reservationId = textField(whole, '"reservationId":"');
    answer.orderId = textField(whole, '"orderId":"');
    answer.location = textField(whole, '"location":"');
    this.#likeThis(head);
    return next === -1 ? -1 : next + 1;
  }

  #likeThis(head: string): void {
    this.#pattern = null;
    if (head === '') return;
    if (head !== lastHead) {
      lastHead = head;
      lastPattern = patternOf(head);
    }
    this.#pattern = lastPattern;
  }
}

/** How many answers the text holds; fewer than it should when it is not of the contract's form. */
export function readJsonAnswers(text: string, onAnswer: OnEdgeAnswer): number {
  const reader = new AnswerReader(text);
  let item = 0;
  for (let at: number | null = 1; at !== -1; ) {
    at = reader.read(at);
    if (at === null) break;
    onAnswer(item, reader.answer);
    item += 1;
  }
  return item;
}

/** The bytes of the text at hand: it is a part of a longer text, and looking at it character by character took most of the time of an answer. */
let scratch = Buffer.alloc(0);

function bytesOf(text: string): Buffer {
  if (scratch.length < text.length) scratch = Buffer.alloc(text.length);
  scratch.write(text, 'latin1');
  return scratch;
}

function isZero(bytes: Buffer, at: number, length: number): boolean {
  let or = 0;
  for (let each = at; each < at + length; each += 1) or |= bytes[each] ?? 0;
  return or === 0;
}

function uuidAt(bytes: Buffer, at: number): string {
  const hex = bytes.toString('hex', at, at + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export function readBinaryAnswers(text: string, onAnswer: OnEdgeAnswer): number {
  const count = Math.floor(text.length / BINARY_ANSWER_BYTES);
  const bytes = bytesOf(text);
  const answer: EdgeAnswer = { status: 0, codeNumber: NO_CODE, requestNumber: -1, reservationId: null, orderId: null, location: null };
  for (let item = 0; item < count; item += 1) {
    const at = item * BINARY_ANSWER_BYTES;
    answer.status = ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0);
    answer.codeNumber = bytes[at + 2] ?? 0;
    // A UUIDv7 begins with the time, which is never 0.
    answer.reservationId = isZero(bytes, at + 8, 4) ? null : uuidAt(bytes, at + 8);
    answer.orderId = isZero(bytes, at + 24, 8) ? null : bytes.readBigUInt64BE(at + 24).toString();
    onAnswer(item, answer);
  }
  return count;
}

/**
 * Just enough of HTTP/1.1 to read the gateway's answers: status line, Content-Length, `Connection: close`, and the fields of the one JSON object in
 * the body (domain/answer.ts). Works on latin1 text, one character a byte, so lengths are bytes.
 */
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../domain/reason-codes.js';

/** Code number of the columns for "none or unreadable". */
export const NO_CODE = 255;

export interface HttpAnswer {
  readonly status: number;
  /** Status line and headers, with the empty line. */
  readonly head: string;
  readonly body: string;
  /** The server closes the connection after this answer. */
  readonly closes: boolean;
}

/** `incomplete`: read on. `broken`: no answer that this client understands; the connection is of no more use. */
export type ParsedAnswer = HttpAnswer | 'incomplete' | 'broken';

const CONTENT_LENGTH = /\r\ncontent-length:[ \t]*([0-9]+)[ \t]*(?:\r\n|$)/i;
const CONNECTION_CLOSE = /\r\nconnection:[ \t]*close/i;
const LOCATION = /\r\nlocation:[ \t]*([^\r\n]*)/i;
/** More than any answer of the contract; an endless head must not fill the memory. */
const MOST_BYTES = 1_048_576;

/** What a head says. */
interface Head {
  /** With the empty line. */
  readonly text: string;
  readonly status: number;
  readonly bodyBytes: number;
  readonly closes: boolean;
}

/** Of the answer before: refusals of one second and one length have the same head, and reading it was half of reading an answer. */
let lastHead: Head | null = null;

function headOf(text: string): Head | 'incomplete' | 'broken' {
  if (lastHead !== null && text.startsWith(lastHead.text)) return lastHead;
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return text.length > MOST_BYTES || (text.length >= 5 && !text.startsWith('HTTP/')) ? 'broken' : 'incomplete';
  const status = Number(text.slice(9, 12));
  if (!text.startsWith('HTTP/1.') || !(status >= 200 && status <= 599)) return 'broken';
  const lines = text.slice(0, headEnd);
  const length = CONTENT_LENGTH.exec(lines)?.[1];
  if (length === undefined) return 'broken';
  lastHead = { text: text.slice(0, headEnd + 4), status, bodyBytes: Number(length), closes: CONNECTION_CLOSE.test(lines) };
  return lastHead;
}

/** Reads one whole answer from the beginning of the text. At depth 1 nothing may follow it. */
export function parseHttpAnswer(text: string): ParsedAnswer {
  const head = headOf(text);
  if (head === 'incomplete' || head === 'broken') return head;
  const end = head.text.length + head.bodyBytes;
  if (text.length < end) return end > MOST_BYTES ? 'broken' : 'incomplete';
  if (text.length > end) return 'broken';
  return { status: head.status, head: head.text, body: text.slice(head.text.length), closes: head.closes };
}

const NUMBER_OF_CODE: ReadonlyMap<string, number> = new Map(ANSWER_CODES_BY_NUMBER.map((code, number) => [code, number]));

/** Text value of a field of the body, found without parsing it; null when it is null or not there. */
function textField(body: string, field: string): string | null {
  const mark = `"${field}":"`;
  const at = body.indexOf(mark);
  if (at === -1) return null;
  const from = at + mark.length;
  const to = body.indexOf('"', from);
  return to === -1 ? null : body.slice(from, to);
}

/** Number of the answer code for the columns, or `NO_CODE`. */
export function codeNumberOf(body: string): number {
  const code = textField(body, 'code');
  return code === null ? NO_CODE : (NUMBER_OF_CODE.get(code) ?? NO_CODE);
}

export function codeOfNumber(number: number): AnswerCode | null {
  return ANSWER_CODES_BY_NUMBER[number] ?? null;
}

export function numberOfCode(code: AnswerCode): number {
  return NUMBER_OF_CODE.get(code) ?? NO_CODE;
}

/** States that no later answer may leave: follow-up clients stop asking until the last round. */
export function isFinalCode(codeNumber: number): boolean {
  const code = codeOfNumber(codeNumber);
  return code === 'ORDERED' || code === 'REJECTED' || code === 'RELEASED';
}

export function reservationIdOf(body: string): string | null {
  return textField(body, 'reservationId');
}

export function orderIdOf(body: string): string | null {
  return textField(body, 'orderId');
}

export function locationOf(head: string): string | null {
  return LOCATION.exec(head)?.[1]?.trim() ?? null;
}

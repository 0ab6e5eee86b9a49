/**
 * The columns of one storm while it runs: one row per arrival of the plan, filled in place. Every row begins as `dropped`, so that an arrival that is
 * never touched counts against the generator.
 */
import { emptyColumns } from '../facts/history-file.js';
import { ARRIVAL_OUTCOMES, type HistoryColumns } from '../facts/history.js';

const NOT_SENT = ARRIVAL_OUTCOMES.indexOf('not-sent');
const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');
const INDETERMINATE = ARRIVAL_OUTCOMES.indexOf('indeterminate');

const ZERO = 48;
const NINE = 57;
const LETTER_A = 97;
const LETTER_F = 102;

export class HistoryRecorder {
  readonly columns: HistoryColumns;
  /** Arrivals that were handed to a socket or refused. */
  issued = 0;
  answered = 0;
  accepted = 0;

  constructor(length: number) {
    this.columns = emptyColumns(length);
  }

  /** All intended times at once, when the start is known. */
  schedule(startUs: number, dueUs: Float64Array): void {
    const { intendedUs } = this.columns;
    for (let index = 0; index < dueUs.length; index += 1) intendedUs[index] = startUs + (dueUs[index] ?? 0);
  }

  /** From now on it may have its effect. */
  sent(index: number, atUs: number): void {
    this.columns.sentUs[index] = atUs;
    this.columns.outcome[index] = INDETERMINATE;
    this.issued += 1;
  }

  notSent(index: number): void {
    this.columns.outcome[index] = NOT_SENT;
    this.issued += 1;
  }

  answer(index: number, atUs: number, status: number, codeNumber: number, reservationId: string | null): void {
    this.columns.answeredUs[index] = atUs;
    this.columns.httpStatus[index] = status;
    this.columns.answerCode[index] = codeNumber;
    this.columns.outcome[index] = ANSWERED;
    if (reservationId !== null) writeUuid(this.columns.reservation, index * 16, reservationId);
    this.answered += 1;
    if (status === 200 || status === 202) this.accepted += 1;
  }
}

function hexDigit(charCode: number): number {
  if (charCode >= ZERO && charCode <= NINE) return charCode - ZERO;
  const lower = charCode | 0x20;
  return lower >= LETTER_A && lower <= LETTER_F ? lower - LETTER_A + 10 : -1;
}

/** Writes the 16 bytes of a UUID; nothing when the text is none, which the telling of that answer still shows word by word. */
export function writeUuid(bytes: Uint8Array, offset: number, text: string): void {
  if (text.length !== 36) return;
  const parsed = new Uint8Array(16);
  let byte = 0;
  for (let at = 0; at < 36; at += 2) {
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (text.charCodeAt(at) !== 45) return;
      at += 1;
    }
    const high = hexDigit(text.charCodeAt(at));
    const low = hexDigit(text.charCodeAt(at + 1));
    if (high < 0 || low < 0) return;
    parsed[byte] = high * 16 + low;
    byte += 1;
  }
  bytes.set(parsed, offset);
}

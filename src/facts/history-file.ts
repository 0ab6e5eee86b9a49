/**
 * The bytes of `history.bin` and the lines of `history.ndjson`. No I/O: the generator writes what this encodes, readers decode with it.
 *
 * history.bin, little endian: a header of 32 bytes (magic `SKLHIST1`, u32 version, u32 bytes per row, u32 scheduled arrivals, u32 zero,
 * f64 start of the storm in CLOCK_MONOTONIC microseconds), then one row of 48 bytes per arrival (u32 index, f64 intended, f64 sent,
 * f64 answered, u16 HTTP status, u8 answer code, u8 outcome, 16 bytes reservation id), then a trailer of 16 bytes (magic `SKLHEND1`,
 * u32 rows, u32 checksum of all rows). Without its trailer a file is what was left of a killed generator.
 *
 * history.ndjson: one `Telling` a line while they come, a `PayerTelling` in a line `{"line":"payer",…}`; a line `{"line":"storm-end","generator":…}` when every arrival has its outcome; last
 * a line `{"line":"end","tellings":N,…}`. Without its last line the tellings are incomplete.
 */
import { ARRIVAL_OUTCOMES, type GeneratorFacts, type HistoryColumns, type PayerTelling, type Telling } from './history.js';

export const HISTORY_VERSION = 1;
export const HISTORY_HEADER_BYTES = 32;
export const HISTORY_ROW_BYTES = 48;
export const HISTORY_TRAILER_BYTES = 16;
const HEADER_MAGIC = 'SKLHIST1';
const TRAILER_MAGIC = 'SKLHEND1';
/** FNV-1a, over words instead of bytes. Catches an edited or torn file, not an adversary. */
const CHECKSUM_START = 0x811c9dc5;
const CHECKSUM_PRIME = 0x01000193;

function writeMagic(bytes: Uint8Array, magic: string): void {
  for (let at = 0; at < magic.length; at += 1) bytes[at] = magic.charCodeAt(at);
}

function hasMagic(bytes: Uint8Array, offset: number, magic: string): boolean {
  for (let at = 0; at < magic.length; at += 1) if (bytes[offset + at] !== magic.charCodeAt(at)) return false;
  return true;
}

const RESERVATION_BYTES = 16;
const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

/** Nearly all reservations are none; looking at four words is what three million rows can afford. */
function copyReservation(from: Uint8Array, fromOffset: number, view: DataView, to: Uint8Array, toOffset: number): void {
  const any = view.getUint32(fromOffset) | view.getUint32(fromOffset + 4) | view.getUint32(fromOffset + 8) | view.getUint32(fromOffset + 12);
  if (any !== 0) to.set(from.subarray(fromOffset, fromOffset + RESERVATION_BYTES), toOffset);
}

/** Columns of `length` arrivals of which nothing is known yet: `dropped`, no times, no code. */
export function emptyColumns(length: number): HistoryColumns {
  return {
    length,
    intendedUs: new Float64Array(length).fill(NaN),
    sentUs: new Float64Array(length).fill(NaN),
    answeredUs: new Float64Array(length).fill(NaN),
    httpStatus: new Uint16Array(length),
    answerCode: new Uint8Array(length).fill(255),
    outcome: new Uint8Array(length),
    reservation: new Uint8Array(length * RESERVATION_BYTES),
  };
}

export function encodeHistoryHeader(scheduled: number, startedUs: number): Uint8Array {
  const bytes = new Uint8Array(HISTORY_HEADER_BYTES);
  writeMagic(bytes, HEADER_MAGIC);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, HISTORY_VERSION, true);
  view.setUint32(12, HISTORY_ROW_BYTES, true);
  view.setUint32(16, scheduled, true);
  view.setFloat64(24, startedUs, true);
  return bytes;
}

/** Rows [from, to) as bytes. */
export function encodeHistoryRows(columns: HistoryColumns, from: number, to: number): Uint8Array {
  const bytes = new Uint8Array((to - from) * HISTORY_ROW_BYTES);
  const view = new DataView(bytes.buffer);
  const { reservation } = columns;
  const reservationView = new DataView(reservation.buffer, reservation.byteOffset, reservation.byteLength);
  let offset = 0;
  for (let index = from; index < to; index += 1) {
    view.setUint32(offset, index, true);
    view.setFloat64(offset + 4, columns.intendedUs[index] ?? NaN, true);
    view.setFloat64(offset + 12, columns.sentUs[index] ?? NaN, true);
    view.setFloat64(offset + 20, columns.answeredUs[index] ?? NaN, true);
    view.setUint16(offset + 28, columns.httpStatus[index] ?? 0, true);
    view.setUint8(offset + 30, columns.answerCode[index] ?? 255);
    view.setUint8(offset + 31, columns.outcome[index] ?? 0);
    copyReservation(reservation, index * RESERVATION_BYTES, reservationView, bytes, offset + 32);
    offset += HISTORY_ROW_BYTES;
  }
  return bytes;
}

/** Continues a checksum over the bytes of whole rows; start with nothing. */
export function checksumRows(rows: Uint8Array, soFar: number = CHECKSUM_START): number {
  let hash = soFar;
  if (IS_LITTLE_ENDIAN && rows.byteOffset % 4 === 0) {
    // Five times as fast as through a DataView.
    for (const word of new Uint32Array(rows.buffer, rows.byteOffset, rows.byteLength >> 2)) hash = Math.imul(hash ^ word, CHECKSUM_PRIME);
    return hash >>> 0;
  }
  const view = new DataView(rows.buffer, rows.byteOffset, rows.byteLength);
  for (let offset = 0; offset + 4 <= rows.byteLength; offset += 4) hash = Math.imul(hash ^ view.getUint32(offset, true), CHECKSUM_PRIME);
  return hash >>> 0;
}

export function encodeHistoryTrailer(rows: number, checksum: number): Uint8Array {
  const bytes = new Uint8Array(HISTORY_TRAILER_BYTES);
  writeMagic(bytes, TRAILER_MAGIC);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, rows, true);
  view.setUint32(12, checksum, true);
  return bytes;
}

export interface DecodedHistory {
  readonly columns: HistoryColumns;
  /** NaN when the header is unreadable. */
  readonly startedUs: number;
  /** Everything that keeps the file from being one whole row per scheduled arrival. */
  readonly problems: readonly string[];
}

/** Puts every readable row in its place and notes what is wrong with the others. */
function decodeRows(bytes: Uint8Array, rows: number, columns: HistoryColumns): string[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const seen = new Uint8Array(columns.length);
  let [outside, doubled, unreadable, found] = [0, 0, 0, 0];
  for (let row = 0; row < rows; row += 1) {
    const offset = HISTORY_HEADER_BYTES + row * HISTORY_ROW_BYTES;
    const index = view.getUint32(offset, true);
    const outcome = view.getUint8(offset + 31);
    if (index >= columns.length) outside += 1;
    else if (seen[index] === 1) doubled += 1;
    else if (outcome >= ARRIVAL_OUTCOMES.length) unreadable += 1;
    else {
      seen[index] = 1;
      found += 1;
      columns.intendedUs[index] = view.getFloat64(offset + 4, true);
      columns.sentUs[index] = view.getFloat64(offset + 12, true);
      columns.answeredUs[index] = view.getFloat64(offset + 20, true);
      columns.httpStatus[index] = view.getUint16(offset + 28, true);
      columns.answerCode[index] = view.getUint8(offset + 30);
      columns.outcome[index] = outcome;
      copyReservation(bytes, offset + 32, view, columns.reservation, index * RESERVATION_BYTES);
    }
  }
  const problems: string[] = [];
  if (outside > 0) problems.push(`${String(outside)} rows have an index outside of the plan`);
  if (doubled > 0) problems.push(`${String(doubled)} rows repeat an index`);
  if (unreadable > 0) problems.push(`${String(unreadable)} rows have an outcome that does not exist`);
  if (found < columns.length) problems.push(`${String(columns.length - found)} of ${String(columns.length)} arrivals have no row`);
  return problems;
}

/**
 * Decodes against the number of arrivals that the plan has. Never throws: an unreadable file is a history with problems. Arrivals without a
 * row stand as `indeterminate`, since a killed generator may have sent them.
 */
export function decodeHistory(bytes: Uint8Array, scheduled: number): DecodedHistory {
  const columns = emptyColumns(scheduled);
  columns.outcome.fill(ARRIVAL_OUTCOMES.indexOf('indeterminate'));
  if (bytes.byteLength < HISTORY_HEADER_BYTES || !hasMagic(bytes, 0, HEADER_MAGIC)) {
    return { columns, startedUs: NaN, problems: ['history.bin has no readable header'] };
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view.getUint32(8, true);
  if (version !== HISTORY_VERSION || view.getUint32(12, true) !== HISTORY_ROW_BYTES) {
    return { columns, startedUs: NaN, problems: [`history.bin has version ${String(version)}; this program reads version ${String(HISTORY_VERSION)}`] };
  }
  const problems: string[] = [];
  const promised = view.getUint32(16, true);
  if (promised !== scheduled) problems.push(`history.bin was written for ${String(promised)} arrivals, the plan has ${String(scheduled)}`);
  const trailerAt = bytes.byteLength - HISTORY_TRAILER_BYTES;
  const ended = trailerAt >= HISTORY_HEADER_BYTES && hasMagic(bytes, trailerAt, TRAILER_MAGIC);
  if (!ended) problems.push('history.bin has no trailer: its writer did not finish');
  const rowBytes = (ended ? trailerAt : bytes.byteLength) - HISTORY_HEADER_BYTES;
  const rows = Math.floor(rowBytes / HISTORY_ROW_BYTES);
  if (ended) {
    if (rowBytes % HISTORY_ROW_BYTES !== 0 || view.getUint32(trailerAt + 8, true) !== rows) problems.push('history.bin does not hold as many rows as its trailer says');
    const checksum = checksumRows(bytes.subarray(HISTORY_HEADER_BYTES, HISTORY_HEADER_BYTES + rows * HISTORY_ROW_BYTES));
    if (view.getUint32(trailerAt + 12, true) !== checksum) problems.push('history.bin was changed after it was written: its checksum differs');
  }
  problems.push(...decodeRows(bytes, rows, columns));
  return { columns, startedUs: view.getFloat64(24, true), problems };
}

export interface TellingsEnd {
  /** Of clients and payers together. */
  readonly tellings: number;
  /** False when the lab stopped the generator before the last round of polls. */
  readonly finalPollsDone: boolean;
  /** Followed requests whose last poll got no answer. */
  readonly finalPollsUnanswered: number;
}

export function encodeTelling(telling: Telling): string {
  return `${JSON.stringify(telling)}\n`;
}

export function encodePayerTelling(telling: PayerTelling): string {
  return `${JSON.stringify({ line: 'payer', ...telling })}\n`;
}

export function encodeStormEnd(generator: GeneratorFacts): string {
  return `${JSON.stringify({ line: 'storm-end', generator })}\n`;
}

export function encodeTellingsEnd(end: TellingsEnd): string {
  return `${JSON.stringify({ line: 'end', ...end })}\n`;
}

export interface DecodedTellings {
  readonly tellings: readonly Telling[];
  readonly payerTellings: readonly PayerTelling[];
  /** null: the storm did not reach its end. */
  readonly generator: GeneratorFacts | null;
  readonly end: TellingsEnd | null;
  readonly problems: readonly string[];
}

/** Decodes `history.ndjson`. Never throws: a line that is no JSON (a torn last line above all) is a problem. */
export function decodeTellings(text: string): DecodedTellings {
  const tellings: Telling[] = [];
  const payerTellings: PayerTelling[] = [];
  const problems: string[] = [];
  let generator: GeneratorFacts | null = null;
  let end: TellingsEnd | null = null;
  let lineNumber = 0;
  for (const line of text.split('\n')) {
    lineNumber += 1;
    if (line === '') continue;
    let value: Record<string, unknown>;
    try {
      value = JSON.parse(line) as Record<string, unknown>;
    } catch {
      problems.push(`history.ndjson line ${String(lineNumber)} is not JSON`);
      continue;
    }
    if (end !== null) problems.push(`history.ndjson goes on after its end, in line ${String(lineNumber)}`);
    // The writer is this program; the shape of a line is trusted once it is whole.
    if (value['line'] === 'storm-end') generator = value['generator'] as GeneratorFacts;
    else if (value['line'] === 'end') end = value as unknown as TellingsEnd;
    else if (value['line'] === 'payer') payerTellings.push(withoutLine(value));
    else tellings.push(value as unknown as Telling);
  }
  if (generator === null) problems.push('history.ndjson has no storm-end: the generator ended before the storm did');
  if (end === null) problems.push('history.ndjson has no end: its writer did not finish');
  else if (end.tellings !== tellings.length + payerTellings.length) {
    problems.push(`history.ndjson holds ${String(tellings.length + payerTellings.length)} tellings, its end says ${String(end.tellings)}`);
  }
  return { tellings, payerTellings, generator, end, problems };
}

function withoutLine(value: Record<string, unknown>): PayerTelling {
  const { line: _line, ...telling } = value;
  return telling as unknown as PayerTelling;
}

/** The bytes of the history: what was written is read back, and what was torn, edited or doubled is told. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  HISTORY_HEADER_BYTES, HISTORY_ROW_BYTES, HISTORY_TRAILER_BYTES, checksumRows, decodeHistory, decodeTellings, emptyColumns, encodeHistoryHeader, encodeHistoryRows,
  encodeHistoryTrailer, encodePayerTelling, encodeStormEnd, encodeTelling, encodeTellingsEnd,
} from './history-file.js';
import { ARRIVAL_OUTCOMES, type GeneratorFacts, type HistoryColumns, type PayerTelling, type Telling } from './history.js';

function encode(columns: HistoryColumns, startedUs = 1_000, chunk = 7): Uint8Array {
  const parts: Uint8Array[] = [encodeHistoryHeader(columns.length, startedUs)];
  let checksum = checksumRows(new Uint8Array(0));
  for (let from = 0; from < columns.length; from += chunk) {
    const rows = encodeHistoryRows(columns, from, Math.min(columns.length, from + chunk));
    checksum = checksumRows(rows, checksum);
    parts.push(rows);
  }
  return Buffer.concat([...parts, encodeHistoryTrailer(columns.length, checksum)]);
}

function sample(length: number): HistoryColumns {
  const columns = emptyColumns(length);
  for (let index = 0; index < length; index += 1) {
    columns.intendedUs[index] = 1_000 + index;
    columns.outcome[index] = index % ARRIVAL_OUTCOMES.length;
    columns.httpStatus[index] = 200 + index;
    columns.answerCode[index] = index % 17;
    columns.reservation[index * 16 + 5] = index;
  }
  return columns;
}

const time = fc.oneof(fc.constant(NaN), fc.double({ min: 0, max: 1e15, noNaN: true }));
const anyColumns = fc
  .array(fc.record({ intended: time, sent: time, answered: time, status: fc.nat(65_535), code: fc.nat(255), outcome: fc.nat(3), reservation: fc.uint8Array({ minLength: 16, maxLength: 16 }) }), { maxLength: 40 })
  .map((rows) => {
    const columns = emptyColumns(rows.length);
    rows.forEach((row, index) => {
      columns.intendedUs[index] = row.intended;
      columns.sentUs[index] = row.sent;
      columns.answeredUs[index] = row.answered;
      columns.httpStatus[index] = row.status;
      columns.answerCode[index] = row.code;
      columns.outcome[index] = row.outcome;
      columns.reservation.set(row.reservation, index * 16);
    });
    return columns;
  });

describe('history.bin', () => {
  it('reads back what was written', () => {
    fc.assert(fc.property(anyColumns, fc.integer({ min: 1, max: 9 }), (columns, chunk) => {
      const decoded = decodeHistory(encode(columns, 123.5, chunk), columns.length);
      expect(decoded).toEqual({ columns, startedUs: 123.5, problems: [] });
    }));
  });

  it('notices every torn end', () => {
    const bytes = encode(sample(5));
    for (let length = 0; length < bytes.length; length += 1) expect(decodeHistory(bytes.subarray(0, length), 5).problems, String(length)).not.toEqual([]);
  });

  it('notices every changed byte of a row', () => {
    const bytes = encode(sample(3));
    for (let at = HISTORY_HEADER_BYTES; at < bytes.length - HISTORY_TRAILER_BYTES; at += 1) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(decodeHistory(changed, 3).problems, String(at)).not.toEqual([]);
    }
  });

  it('has the same checksum wherever the bytes lie', () => {
    const rows = encodeHistoryRows(sample(4), 0, 4);
    const shifted = new Uint8Array(rows.length + 1);
    shifted.set(rows, 1);
    expect(checksumRows(shifted.subarray(1))).toBe(checksumRows(rows));
  });

  it('names a doubled index and the arrival without a row, which stays indeterminate', () => {
    const rows = encodeHistoryRows(sample(3), 0, 3);
    rows.copyWithin(HISTORY_ROW_BYTES, 0, HISTORY_ROW_BYTES);
    const { columns, problems } = decodeHistory(Buffer.concat([encodeHistoryHeader(3, 0), rows, encodeHistoryTrailer(3, checksumRows(rows))]), 3);
    expect(problems).toEqual(['1 rows repeat an index', '1 of 3 arrivals have no row']);
    expect(ARRIVAL_OUTCOMES[columns.outcome[1] ?? 0]).toBe('indeterminate');
    expect(columns.outcome[2]).toBe(2);
  });

  it('is not believed about how many arrivals there were', () => {
    expect(decodeHistory(encode(sample(3)), 4).problems).toContain('history.bin was written for 3 arrivals, the plan has 4');
    expect(decodeHistory(encode(sample(3)), 2).problems).toContain('1 rows have an index outside of the plan');
  });
});

const telling: Telling = {
  kind: 'poll', arrival: 3, requestId: 'r1-3', userId: '9007199254741003', askedUs: 1.5, answeredUs: 2.5, httpStatus: 200, code: 'ORDERED', reservationId: null, orderId: '12', location: null,
};
const payerTelling: PayerTelling = {
  kind: 'payment', act: 'callback', arrival: 3, userId: '9007199254741003', orderId: '12', channelTradeNo: 't1-3-0', callbackId: 'c1-3-0', amountMinor: '9900', channelSays: 'SUCCEEDED',
  askedUs: 3.5, answeredUs: null, httpStatus: null, code: null, reason: null,
};
const generator: GeneratorFacts = {
  scheduled: 1, issued: 1, answered: 1, dropped: 0, notSent: 0, indeterminate: 0, latenessP50Us: 1, latenessP99Us: 1, latenessMaxUs: 1, startedUs: 1, endedUs: 2, cpuSeconds: 0.1, maxTickGapUs: 5,
};

describe('history.ndjson', () => {
  const whole = encodeTelling(telling) + encodeStormEnd(generator) + encodePayerTelling(payerTelling) + encodeTelling(telling) + encodeTellingsEnd({ tellings: 3, finalPollsDone: true, finalPollsUnanswered: 0 });

  it('reads back what was written', () => {
    expect(decodeTellings(whole)).toEqual({
      tellings: [telling, telling], payerTellings: [payerTelling], generator, end: { line: 'end', tellings: 3, finalPollsDone: true, finalPollsUnanswered: 0 }, problems: [],
    });
  });

  it('notices every torn end and a missing line', () => {
    for (let length = 0; length < whole.length - 1; length += 1) expect(decodeTellings(whole.slice(0, length)).problems, String(length)).not.toEqual([]);
    expect(decodeTellings(whole.slice(whole.indexOf('\n') + 1)).problems).toEqual(['history.ndjson holds 2 tellings, its end says 3']);
  });
});

/** Answers of a batch are read in place as a JSON parser would read them, field by field, in both forms. */
import { describe, expect, it } from 'vitest';

import { ANSWER_CODES_BY_NUMBER } from '../../domain/reason-codes.js';
import { readBinaryAnswers, readJsonAnswers, type EdgeAnswer } from './edge-answers.js';

const RESERVATION = '018f0000-0000-7000-8000-0000000000ff';

function read(text: string, reader = readJsonAnswers): EdgeAnswer[] {
  const answers: EdgeAnswer[] = [];
  expect(reader(text, (item, answer) => {
    expect(item).toBe(answers.length);
    answers.push({ ...answer });
  })).toBe(answers.length);
  return answers;
}
const codes = (answers: readonly EdgeAnswer[]): (string | undefined)[] => answers.map(({ codeNumber }) => ANSWER_CODES_BY_NUMBER[codeNumber]);

describe('JSON answers', () => {
  it('are told apart although most look alike', () => {
    const soldOut = (n: number): object => ({ status: 410, code: 'TEMP_SOLD_OUT', retryAfterMs: 1000, requestId: `r3-${String(n)}` });
    const all = [
      soldOut(0), soldOut(1), { status: 202, code: 'QUEUED', retryAfterMs: 500, requestId: 'r3-22', reservationId: RESERVATION, location: '/v1/x' }, soldOut(3),
      { status: 400, code: 'INVALID', problems: ['with "quotes", and {"status":' + ' inside'] }, soldOut(5), { status: 200, code: 'ORDERED', requestId: 'r3-6', reservationId: RESERVATION, orderId: '9007199254740993', location: '/v1/y' },
    ];
    const answers = read(JSON.stringify(all));
    expect(answers.map(({ status }) => status)).toEqual([410, 410, 202, 410, 400, 410, 200]);
    expect(codes(answers)).toEqual(['TEMP_SOLD_OUT', 'TEMP_SOLD_OUT', 'QUEUED', 'TEMP_SOLD_OUT', 'INVALID', 'TEMP_SOLD_OUT', 'ORDERED']);
    expect(answers.map(({ requestNumber }) => requestNumber)).toEqual([0, 1, 22, 3, -1, 5, 6]);
    expect(answers.map(({ reservationId }) => reservationId)).toEqual([null, null, RESERVATION, null, null, null, RESERVATION]);
    expect(answers[6]).toMatchObject({ orderId: '9007199254740993', location: '/v1/y' });
  });

  it('of one, of none, and of no contract', () => {
    expect(codes(read('[{"status":503,"code":"UNAVAILABLE","retryAfterMs":1000,"requestId":"r1-7"}]'))).toEqual(['UNAVAILABLE']);
    expect(read('[]')).toEqual([]);
    expect(read('gateway time-out')).toEqual([]);
    // One refusal after another with another head: the first one's head must not be taken for its own.
    expect(codes(read('[{"status":429,"code":"LIMITED","requestId":"r1-7"},{"status":410,"code":"SOLD_OUT","requestId":"r1-8"}]'))).toEqual(['LIMITED', 'SOLD_OUT']);
  });
});

describe('binary answers', () => {
  it('carry status, code and ids', () => {
    const bytes = Buffer.alloc(64);
    bytes.writeUInt16BE(410, 0);
    bytes[2] = ANSWER_CODES_BY_NUMBER.indexOf('SOLD_OUT');
    bytes.writeUInt16BE(200, 32);
    bytes[34] = ANSWER_CODES_BY_NUMBER.indexOf('ORDERED');
    bytes.write(RESERVATION.replaceAll('-', ''), 40, 'hex');
    bytes.writeBigUInt64BE(9007199254740993n, 56);
    const answers = read(bytes.toString('latin1'), readBinaryAnswers);
    expect(codes(answers)).toEqual(['SOLD_OUT', 'ORDERED']);
    expect(answers).toMatchObject([{ status: 410, reservationId: null, orderId: null }, { status: 200, reservationId: RESERVATION, orderId: '9007199254740993' }]);
  });
});

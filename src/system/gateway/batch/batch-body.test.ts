/** Reading and writing batches in all three forms: one bad item spoils no other, and nothing that is no batch is looked at. */
import { describe, expect, test } from 'vitest';

import { ANSWER_CODES_BY_NUMBER } from '../../../domain/reason-codes.js';
import * as answers from '../answers.js';
import { decimalAt } from './binary-item.js';
import { readBatch, type ReadBatch } from './read-batch.js';
import { countOf, requestIdOf, scanPlainItems, userIdOf } from './scan-json.js';
import { answerText, writeBatch } from './write-batch.js';

const SKU = { activityId: '7', skuId: '70' };
const json = (value: unknown): ReadBatch => readBatch('json', Buffer.from(JSON.stringify(value)), SKU);
const good = (n: number): Record<string, unknown> => ({ requestId: `r-${String(n)}`, userId: String(n + 1), quantity: 1 });

/** Request id or first problem of each item. */
function told(read: ReadBatch): (string | undefined)[] | string {
  return read.ok ? read.items.map((item) => (item.ok ? item.value.requestId : item.problems[0])) : read.problem;
}

function binaryItem(userId: bigint, requestId: string, length = requestId.length): Buffer {
  const bytes = Buffer.alloc(32);
  bytes.writeBigUInt64BE(userId, 0);
  bytes[8] = length;
  bytes.write(requestId, 9, 'latin1');
  return bytes;
}

describe('JSON', () => {
  test.each([
    ['a number for an id, which may have lost digits', { ...good(1), userId: 9007199254740993 }, /userId/],
    ['no request id', { userId: '1', quantity: 1 }, /requestId/],
    ['two units', { ...good(1), quantity: 2 }, /quantity/],
    ['an unknown field', { ...good(1), price: 1 }, /unknown field "price"/],
    ['a device id of another form', { ...good(1), deviceId: 'x y' }, /deviceId/],
    ['a permit that is no text', { ...good(1), permit: 5 }, /permit/],
    ['no object', 'r-1', /JSON object/],
    ['an array', [], /JSON object/],
    ['null', null, /JSON object/],
  ])('%s is one bad item', (_name, item, problem) => {
    expect(told(json([good(0), item, good(2)]))).toEqual(['r-0', expect.stringMatching(problem), 'r-2']);
  });

  test('carries tag, permit and device id, and the payload hash of a single request', () => {
    const read = json([good(0), { ...good(1), clientTag: 'x', permit: 'p.q', deviceId: 'd' }]);
    expect(read).toMatchObject({ ok: true, items: [{ value: { permit: null, deviceId: null } }, { value: { permit: 'p.q', deviceId: 'd' } }] });
    if (!read.ok || !read.items[0]?.ok || !read.items[1]?.ok) throw new Error('not read');
    expect(read.items[0].value.payloadHash).not.toBe(read.items[1].value.payloadHash);
  });

  test('what is no batch is refused whole', () => {
    expect(told(readBatch('json', Buffer.from('[{'), SKU))).toMatch(/not JSON/);
    expect(told(json({ items: [] }))).toMatch(/array/);
    expect(told(json(Array.from({ length: 513 }, (_, n) => good(n))))).toMatch(/at most 512/);
    expect(told(json([]))).toEqual([]);
    expect(told(json(Array.from({ length: 512 }, (_, n) => good(n))))).toHaveLength(512);
  });
});

describe('plain JSON, read without a parser', () => {
  const item = (requestId: string, userId: string): string => `{"requestId":"${requestId}","userId":"${userId}","quantity":1}`;
  const long = 'x'.repeat(64);

  test('is read as a parser reads it', () => {
    const ids: [string, string][] = [['r', '1'], ['A-z_0.9:', '900719925474099312'], [long, '42'], ['0197f0b2-1c6e-7abc-8def-0123456789ab', '7']];
    const body = Buffer.from(`[${ids.map(([requestId, userId]) => item(requestId, userId)).join(',')}]`);
    const read = scanPlainItems(body);
    if (read === null) throw new Error('not read');
    expect(ids.map((_ids, index) => [requestIdOf(body, read, index), userIdOf(body, read, index)])).toEqual(ids);
    expect(countOf(read)).toBe(ids.length);
    const most = `[${Array.from({ length: 512 }, () => item('r', '1')).join(',')}]`;
    expect(scanPlainItems(Buffer.from(most))).not.toBeNull();
    expect(readBatch('json', Buffer.from(most), SKU)).toEqual(readBatch('json', Buffer.from(most.replace('[', '[ ')), SKU));
  });

  test.each([
    ['nothing', ''], ['no items', '[]'], ['blanks', `[ ${item('r', '1')}]`], ['an item too many', `[${Array.from({ length: 513 }, () => item('r', '1')).join(',')}]`], ['an id too long', `[${item(`${long}x`, '1')}]`],
    ['a user of 19 digits', `[${item('r', '9223372036854775807')}]`], ['a user that begins with 0', `[${item('r', '01')}]`], ['no user', `[${item('r', '')}]`], ['no id', `[${item('', '1')}]`], ['an escape', `[${item('r\\u0041', '1')}]`],
    ['another alphabet', `[${item('ré', '1')}]`], ['two units', `[${item('r', '1').replace('1}', '2}')}]`], ['one more field', `[${item('r', '1').replace('}', ',"clientTag":"x"}')}]`], ['a comma at the end', `[${item('r', '1')},]`],
    ['no end', `[${item('r', '1')}`], ['more behind the end', `[${item('r', '1')}] `], ['no comma', `[${item('r', '1')}${item('s', '2')}]`], ['no array', item('r', '1')],
  ])('%s is left to the parser', (_name, text) => {
    expect(scanPlainItems(Buffer.from(text))).toBeNull();
  });
});

describe('lines', () => {
  test('each line stands for itself', () => {
    const body = [JSON.stringify(good(0)), '{"requestId":', '', '{"a":1},{"b":2}', JSON.stringify(good(4))].join('\n');
    const bad = expect.stringMatching(/not JSON/) as unknown;
    expect(told(readBatch('ndjson', Buffer.from(body), SKU))).toEqual(['r-0', bad, bad, bad, 'r-4']);
    expect(told(readBatch('ndjson', Buffer.from(`${body}\n`), SKU))).toHaveLength(5);
    expect(told(readBatch('ndjson', Buffer.from('{}\n'.repeat(513)), SKU))).toMatch(/at most 512/);
  });
});

describe('binary', () => {
  test('ids come back digit by digit', () => {
    for (const id of [0n, 1n, 10n, 999_999n, 1_000_000n, 4_294_967_295n, 4_294_967_296n, 999_999_999_999n, 1_000_000_000_000n, 1_000_000_000_000_000_000n, 9_007_199_254_740_993n, 9_223_372_036_854_775_807n, 18_446_744_073_709_551_615n, 281_474_976_710_656n]) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64BE(id);
      expect(decimalAt(bytes, 0)).toBe(String(id));
    }
  });

  test('a bad item is one bad item', () => {
    const items = [
      binaryItem(9_007_199_254_740_993n, 'r-0'), binaryItem(0n, 'r-1'), binaryItem(2n, 'r 2'), binaryItem(3n, 'r-3', 200), binaryItem(4n, '', 0), binaryItem(2n ** 63n, 'r-5'), binaryItem(6n, 'r-6-23-characters-long.'),
    ];
    const read = readBatch('binary', Buffer.concat(items), SKU);
    expect(told(read)).toEqual(['r-0', ...Array.from({ length: 5 }, () => expect.any(String) as unknown), 'r-6-23-characters-long.']);
    expect(read).toMatchObject({ items: [{ ok: true, value: { userId: '9007199254740993' } }, { ok: false }, { ok: false }, { ok: false }, { ok: false }, { ok: false }, { ok: true }] });
    expect(told(readBatch('binary', Buffer.alloc(33), SKU))).toMatch(/32 bytes/);
    expect(told(readBatch('binary', Buffer.alloc(513 * 32), SKU))).toMatch(/at most 512/);
  });

  test('answers say code, status, wait and ids', () => {
    const id = '018f0000-0000-7000-8000-0000000000ff';
    const bytes = writeBatch('binary', [answers.soldOut('TEMP_SOLD_OUT', 'r', 1_000), answers.accepted(SKU, 'r', id, true)]);
    expect(bytes).toHaveLength(64);
    expect([bytes.readUInt16BE(0), ANSWER_CODES_BY_NUMBER[bytes[2] ?? 255], bytes.readUInt32BE(4), bytes.readBigUInt64BE(24)]).toEqual([410, 'TEMP_SOLD_OUT', 1_000, 0n]);
    expect([bytes.readUInt16BE(32), ANSWER_CODES_BY_NUMBER[bytes[34] ?? 255], bytes.subarray(40, 56).toString('hex')]).toEqual([202, 'QUEUED', id.replaceAll('-', '')]);
  });
});

test('an answer in JSON is the single answer without what is empty', () => {
  const all = [
    answers.accepted(SKU, 'r-1', '018f0000-0000-7000-8000-000000000001', false), answers.invalid(['a "quoted" problem', '行'], null), answers.holdLimit('r-2', 'USER'), answers.resultUnknown(SKU, 'r-3'),
  ];
  for (const each of all) {
    const parsed = JSON.parse(answerText(each)) as Record<string, unknown>;
    const { status, location = null, ...rest } = parsed;
    expect(status).toBe(each.httpStatus);
    expect(location).toBe(each.location);
    const kept = Object.entries(each.answer).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0));
    expect(rest).toEqual(Object.fromEntries(kept));
  }
  expect(JSON.parse(writeBatch('json', all).toString())).toHaveLength(4);
  // Refusals of one kind and of several among them: the same as one by one.
  const told = [answers.soldOut('TEMP_SOLD_OUT', 'r-4', 500), answers.soldOut('TEMP_SOLD_OUT', 'r-5', 500), ...all, answers.soldOut('FINAL_SOLD_OUT', 'r-6', 500), answers.soldOut('FINAL_SOLD_OUT', 'r-7', 600), answers.limited(null), answers.queueFull('r-8')];
  expect(writeBatch('json', told).toString()).toBe(`[${told.map(answerText).join(',')}]`);
  expect(writeBatch('ndjson', []).toString()).toBe('');
  expect(writeBatch('json', []).toString()).toBe('[]');
  expect(writeBatch('ndjson', all).toString().split('\n')).toHaveLength(5);
});

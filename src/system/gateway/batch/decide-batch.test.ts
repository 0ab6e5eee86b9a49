/** A batch is decided caller by caller: who waits holds up nobody's decision, and what breaks for one breaks for one. */
import { expect, test } from 'vitest';

import * as answers from '../answers.js';
import type { GatewayAnswer } from '../answers.js';
import { decideBatch } from './decide-batch.js';
import type { BatchItem } from './read-batch.js';

const SKU = { activityId: '7', skuId: '70' };
const item = (requestId: string): BatchItem => ({ ok: true, value: { sku: SKU, requestId, userId: '1', payloadHash: '00', permit: null, deviceId: null } });

test('answers keep the order of the items, whoever is ready first', async () => {
  const late = new Map<string, (answer: GatewayAnswer) => void>();
  const decided = decideBatch([item('a'), item('b'), { ok: false, problems: ['bad'], requestId: null }, item('c')], SKU, { decide: ({ requestId }) => (requestId === 'b' ? answers.limited(requestId) : new Promise((resolve) => late.set(requestId, resolve))) }, () => undefined);
  late.get('c')?.(answers.refused('SOLD_OUT', 'c'));
  late.get('a')?.(answers.accepted(SKU, 'a', 'id', true));
  expect((await decided).map(({ answer }) => [answer.code, answer.requestId])).toEqual([['QUEUED', 'a'], ['LIMITED', 'b'], ['INVALID', null], ['SOLD_OUT', 'c']]);
});

test('a bug in one item is an unknown result of that item alone', async () => {
  const logged: string[] = [];
  const decided = await decideBatch([item('a'), item('throws'), item('rejects'), item('d')], SKU, {
    decide({ requestId }) {
      if (requestId === 'throws') throw new Error('bug');
      return requestId === 'rejects' ? Promise.reject(new Error('bug')) : Promise.resolve(answers.limited(requestId));
    },
  }, (_level, text) => void logged.push(text));
  expect(decided.map(({ answer, location }) => [answer.code, answer.requestId, location === null])).toEqual([
    ['LIMITED', 'a', true], ['RESULT_UNKNOWN', 'throws', false], ['RESULT_UNKNOWN', 'rejects', false], ['LIMITED', 'd', true],
  ]);
  expect(logged).toHaveLength(2);
});

// Faults that need a gateway process are refused where the gateway lives in the generator; everything else is left alone.
import { expect, test } from 'vitest';

import { FAULTS } from '../faults/registry.js';
import { bots } from '../scenarios/bots.js';
import { hotSku } from '../scenarios/hot-sku.js';
import { killAfterLua } from '../scenarios/kill-after-lua.js';
import { edgeFormProblems, transportProblems } from './transport-limits.js';

test.each([
  'kill-role@step=gateway.after-reserve,hit=10,every=20,times=50', 'cut-at-step@step=gateway.before-send,link=gateway-kafka,stream=downstream,hit=3', 'freeze-role@role=gateway-1,t=2s,s=3',
  'restart-everything@t=3s,times=2,gap=4s',
])('%s', (text) => {
  expect(transportProblems('inproc', [text])).toEqual([expect.stringMatching(/aims at a gateway process.*--transport http/)]);
  expect(transportProblems('http', [text])).toEqual([]);
});

test('faults of other roles, of servers and of links go with every transport', () => {
  const others = FAULTS.map(({ example }) => example).filter((example) => !/gateway\.|=gateway-1|restart-everything/.test(example));
  expect(others.length).toBeGreaterThan(5);
  expect(transportProblems('inproc', [...others, 'kill-role@step=consumer.after-order,hit=3', 'link-toxic@link=gateway-redis,type=latency,latency=200,t=1s,s=2', 'no such fault'])).toEqual([]);
});

test('a scenario that is about the death of its gateway cannot be run so', () => {
  expect(transportProblems('inproc', killAfterLua.faults)).toHaveLength(1);
});

test('a form belongs to an edge, and binary items carry ids alone', () => {
  expect(edgeFormProblems('edge', 'binary', killAfterLua.load)).toEqual([]);
  expect(edgeFormProblems('http', undefined, hotSku.load)).toEqual([]);
  expect(edgeFormProblems('http', 'json', hotSku.load)).toEqual([expect.stringMatching(/--transport edge.*http/)]);
  expect(edgeFormProblems('edge', 'json', hotSku.load)).toEqual([]);
  expect(edgeFormProblems('edge', 'binary', hotSku.load)).toEqual([expect.stringContaining('other payloads, malformed requests')]);
  expect(edgeFormProblems('edge', undefined, { ...bots.load, edgeForm: 'binary' })).toEqual([expect.stringContaining('permits')]);
});

/** Flags that Node takes, for the gateway alone. */
import { spawnSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { DEFAULT_TUNING } from '../domain/role-config.js';
import { nodeFlagsOf } from './node-flags.js';

test.each([null, 64])('a young generation of %s MB: Node starts with the flags', (youngGenerationMb) => {
  const flags = nodeFlagsOf({ role: 'gateway', tuning: { ...DEFAULT_TUNING, youngGenerationMb } });
  expect(flags).toHaveLength(youngGenerationMb === null ? 1 : 3);
  expect(spawnSync(process.execPath, [...flags, '-e', ''], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
});

test('other roles start as they are', () => {
  expect(nodeFlagsOf({ role: 'consumer', tuning: { ...DEFAULT_TUNING, youngGenerationMb: 64 } })).toEqual([]);
});

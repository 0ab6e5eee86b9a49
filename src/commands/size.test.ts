/** The table marks the knees, and the recommendation is made of them; what could not be measured is refused before anything starts. */
import { expect, it } from 'vitest';

import { runSizeCommand, sizeText } from './size.js';

it('marks each knee and recommends it', () => {
  const text = sizeText([
    { setting: 'pool size', with: 'single, 1 consumer', rows: [{ value: 8, rates: [500, 510, 520] }, { value: 16, rates: [900, 950, 800] }], knee: 16 },
    { setting: 'batch', with: '1 consumer', rows: [{ value: 50, rates: [4_000] }], knee: 50 },
    { setting: 'consumers', with: 'batch:50', rows: [{ value: 1, rates: [4_000] }, { value: 2, rates: [4_100] }], knee: 1 },
    { setting: 'allocator', with: 'batch:50, 1 consumers', rows: [{ value: 'token', rates: [4_000] }, { value: 'row', rates: [9_000] }], knee: 'row' },
  ]);
  expect(text).toContain('       8     510 (500–520)\n      16     900 (800–950)  ← knee');
  expect(text.trim().split('\n').at(-2)).toBe('recommended: --consumer batch:50 --consumers 1 --allocator row; postgresPoolSize 16 where orders are written one by one');
});

it.each([['0', '24000', '--repeats'], ['21', '24000', '--repeats'], ['three', '24000', '--repeats'], ['3', '5999', '--orders'], ['3', '100001', '--orders'], ['3', 'all', '--orders']])('refuses --repeats %s --orders %s', async (repeats, orders, named) => {
  await expect(runSizeCommand({ repeats, orders }, { stdout: () => undefined, stderr: () => undefined })).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(named) as string });
});

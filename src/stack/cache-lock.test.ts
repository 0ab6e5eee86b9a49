// The lock of the cache: one at a time, freed in every case.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, it } from 'vitest';

import { withCacheLock } from './cache-lock.js';

let names = 0;
const fresh = (): string => `/test/${process.pid}/${(names += 1)}`;

it('lets one in at a time, each of them in the end', async () => {
  const cache = fresh();
  let inside = 0;
  let most = 0;
  let waited = 0;
  const work = async (): Promise<void> => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => withCacheLock(cache, () => (waited += 1), work)));
  expect(most).toBe(1);
  expect(waited).toBeGreaterThanOrEqual(7);
});

it('is freed by work that fails', async () => {
  const cache = fresh();
  await expect(withCacheLock(cache, () => undefined, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withCacheLock(cache, () => { throw new Error('held'); }, () => Promise.resolve(7))).toBe(7);
});

it('is freed by the death of its holder', async () => {
  const cache = fresh();
  const address = await withCacheLock(cache, () => undefined, async () => {
    const { createHash } = await import('node:crypto');
    return `seckill-lab-${createHash('sha256').update(cache).digest('hex').slice(0, 24)}`;
  });
  const holder = spawn(process.execPath, ['-e', `require('net').createServer(() => {}).listen('\\0${address}', () => console.log('held'))`], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  let waits = 0;
  const taken = withCacheLock(cache, () => { waits += 1; holder.kill('SIGKILL'); }, () => Promise.resolve('mine'));
  expect(await taken).toBe('mine');
  expect(waits).toBe(1);
});

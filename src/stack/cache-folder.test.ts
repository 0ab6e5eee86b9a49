// Where the cache lies and when it can be used.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { cacheFolder, cacheProblem, othersMayPass } from './cache-folder.js';

const isRoot = process.getuid?.() === 0;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'seckill-cache-'));
  chmodSync(folder, 0o755);
});
afterEach(() => { rmSync(folder, { recursive: true }); });

it('is what SECKILL_LAB_CACHE says, made absolute', () => {
  expect(cacheFolder({ SECKILL_LAB_CACHE: '/somewhere/else' })).toBe('/somewhere/else');
  expect(cacheFolder({ SECKILL_LAB_CACHE: 'here' })).toBe(join(process.cwd(), 'here'));
});

it('is outside of root’s home, and below XDG_CACHE_HOME for others', () => {
  expect(cacheFolder({ XDG_CACHE_HOME: '/xdg', SECKILL_LAB_CACHE: '' })).toBe(isRoot ? '/var/cache/seckill-lab' : '/xdg/seckill-lab');
});

it('is made when it is missing, open to the user of PostgreSQL whatever the umask', () => {
  const before = process.umask(0o077);
  try {
    expect(cacheProblem(join(folder, 'new'))).toBeNull();
    expect(othersMayPass(join(folder, 'new'))).toBe(othersMayPass(folder));
  } finally {
    process.umask(before);
  }
});

it('is refused with the reason when it cannot be made', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(cacheProblem(join(folder, 'file', 'cache'))).toMatch(/cannot be written \(ENOTDIR/);
});

it.runIf(isRoot)('is refused to root where PostgreSQL’s user cannot enter', () => {
  mkdirSync(join(folder, 'closed'), { mode: 0o700 });
  expect(cacheProblem(join(folder, 'closed', 'cache'))).toMatch(/cannot be entered/);
});

// Which image is asked for: flag over file over pin; every mistake named at once.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { candidates, OFFICIAL_IMAGES, readImageWishes, STAND_IN_IMAGES } from './image-choice.js';

let folder: string;
beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'seckill-images-')); });
afterEach(() => { rmSync(folder, { recursive: true }); });

const digest = `sha256:${'a'.repeat(64)}`;

it('takes the official image, then the stand-in, and only what was wished for when something was', () => {
  expect(candidates('redis', {})).toEqual([OFFICIAL_IMAGES.redis, STAND_IN_IMAGES.redis]);
  expect(candidates('redis', { redis: 'redis:6' })).toEqual(['redis:6']);
  expect(candidates('roles', {})).toEqual([STAND_IN_IMAGES.roles]);
});

it('reads flag and file, the flag first, with tags, registries and digests', () => {
  const file = join(folder, 'images.json');
  writeFileSync(file, JSON.stringify({ redis: 'redis:6', kafka: `apache/kafka@${digest}` }));
  expect(readImageWishes(['redis=localhost:5000/own/redis:7.2'], file)).toEqual({ redis: 'localhost:5000/own/redis:7.2', kafka: `apache/kafka@${digest}` });
});

it.each([['mysql=mysql:8'], ['redis'], ['redis='], ['redis=UPPER case'], ['kafka=apache/kafka@sha256:12']])('refuses %s', (pair) => {
  expect(() => readImageWishes([pair], null)).toThrow(expect.objectContaining({ code: 'USAGE' }) as Error);
});

it('names every mistake at once, those of the file too', () => {
  const file = join(folder, 'images.json');
  writeFileSync(file, '{"mysql": 1}');
  expect(() => readImageWishes(['moon=x', 'redis=?'], file)).toThrow(/moon[\s\S]*redis|mysql[\s\S]*moon/);
  expect(() => readImageWishes([], join(folder, 'none.json'))).toThrow(/cannot be read/);
});

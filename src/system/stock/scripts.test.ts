// Static rules of the Lua scripts: names, declared keys, headers (CASES C6).
import { readFileSync, readdirSync } from 'node:fs';

import { expect, test } from 'vitest';

import { stockKeys } from './keys.js';
import { LUA_DIRECTORY, SCRIPT_NAMES, loadScripts, parseScriptFileName } from './script-loader.js';

const files = readdirSync(LUA_DIRECTORY).filter((name) => name.endsWith('.lua'));

test('every script file is loaded and every loaded script has its file', () => {
  expect(files.map((file) => parseScriptFileName(file)?.name).sort()).toEqual([...SCRIPT_NAMES].sort());
  expect(loadScripts().map(({ name }) => name)).toEqual(SCRIPT_NAMES);
});

test.each(files)('%s: the suffix is the highest KEYS index', (file) => {
  const source = readFileSync(`${LUA_DIRECTORY}${file}`, 'utf8');
  const code = source.replace(/--\[\[[\s\S]*?\]\]/g, '');
  const used = [...code.matchAll(/KEYS\[(\d+)\]/g)].map((match) => Number(match[1]));
  expect(Math.max(...used)).toBe(parseScriptFileName(file)?.numberOfKeys);
  // A key that is built, or comes as an argument, works alone and fails in a cluster (CASES C6).
  for (const call of code.matchAll(/\bcall\('([A-Z]+)',\s*([^,)]+)/g)) {
    if (call[1] === 'TIME' || call[1] === 'INFO') continue;
    expect(call[2], call[0]).toMatch(/^KEYS\[\d\]$/);
  }
});

test.each(files)('%s: header with KEYS, ARGV and reply, at most 120 lines', (file) => {
  const source = readFileSync(`${LUA_DIRECTORY}${file}`, 'utf8');
  const header = /^--\[\[([\s\S]*?)\]\]/.exec(source)?.[1] ?? '';
  expect(header).toContain('KEYS[1]');
  expect(header).toContain('ARGV[1]');
  expect(header).toContain('Reply:');
  expect(source.split('\n').length).toBeLessThanOrEqual(120);
});

test('all keys of a SKU share one hash tag, and no two are the same', () => {
  const keys = Object.values(stockKeys('run1:', { activityId: '10001', skuId: '20001' })) as string[];
  expect(new Set(keys).size).toBe(6);
  for (const key of keys) expect(key).toMatch(/^run1:seckill:\{10001:20001\}:[a-z]+$/);
});

test('a replacement takes the place of the file', () => {
  const source = "return { 'OK', '0' }";
  expect(loadScripts({ mark_sent: source }).find(({ name }) => name === 'mark_sent')).toMatchObject({ source, numberOfKeys: 2 });
});

test.each(['reserve.lua', 'Reserve-5.lua', 'reserve_batch-0.lua', 'reserve_batch-5.txt'])('%s is no script name', (name) => {
  expect(parseScriptFileName(name)).toBeNull();
});

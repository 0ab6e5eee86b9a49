/** After the import of what uses ioredis, V8 holds the methods of strings as it holds those of everything else. */
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { makeStringsFast } from './fast-strings.js';

const IOREDIS = createRequire(import.meta.url).resolve('ioredis');

/** In a process of its own: whether strings are fast is a matter of the whole process, and this one has other things loaded. */
function areFastAfter(script: string): boolean {
  return execFileSync(process.execPath, ['--allow-natives-syntax', '-e', `${script}; process.stdout.write(String(%HasFastProperties(String.prototype)))`], { encoding: 'utf8', cwd: fileURLToPath(new URL('.', import.meta.url)) }) === 'true';
}

test('ioredis makes them slow, and this makes them fast again', () => {
  const load = `require(${JSON.stringify(IOREDIS)})`;
  // Where this is no longer so, the file is of no more use.
  expect(areFastAfter(load)).toBe(false);
  const mend = makeStringsFast.toString().replaceAll(/\bREADS\b/g, '1000');
  expect(areFastAfter(`${load}; function firstCodeOf(text) { return text.charCodeAt(0); } (${mend})()`)).toBe(true);
});

// One digest for one code, another for another.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { codeDigest } from './code-digest.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'seckill-code-'));
  for (const folder of ['dist/lab', 'lua', 'sql']) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'dist', 'lab', 'role-main.js'), 'one');
});
afterEach(() => { rmSync(root, { recursive: true }); });

it('is the same for the same files, whatever else lies about', () => {
  const before = codeDigest(root);
  writeFileSync(join(root, 'README.md'), 'words');
  expect(codeDigest(root)).toBe(before);
});

it('changes with a content, a name and a new file', () => {
  const digests = new Set([codeDigest(root)]);
  writeFileSync(join(root, 'dist', 'lab', 'role-main.js'), 'two');
  digests.add(codeDigest(root));
  writeFileSync(join(root, 'lua', 'a.lua'), '');
  digests.add(codeDigest(root));
  rmSync(join(root, 'lua', 'a.lua'));
  writeFileSync(join(root, 'sql', 'a.lua'), '');
  digests.add(codeDigest(root));
  expect(digests.size).toBe(4);
});

it('changes with a package that it runs on', () => {
  const digests = new Set([codeDigest(root)]);
  for (const version of ['1.0.0', '1.0.1']) {
    writeFileSync(join(root, 'package-lock.json'), `{"packages":{"node_modules/pg":{"version":"${version}"}}}`);
    digests.add(codeDigest(root));
  }
  expect(digests.size).toBe(3);
});

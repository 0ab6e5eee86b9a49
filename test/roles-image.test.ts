/** The image of the roles: nobody in it is a superuser, and it says by itself whether its role is well. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { ROOT, textOf } from './support/source-tree.js';

/** Instructions of the stage that becomes the image, name and rest. */
const stages = textOf('Dockerfile').split(/^FROM /m);
const instructions = (stages.at(-1) ?? '').split('\n').slice(1).filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
  const at = line.indexOf(' ');
  return [line.slice(0, at), line.slice(at + 1)] as const;
});
const valueOf = (name: string): string => instructions.findLast(([each]) => each === name)?.[1] ?? '';

it('runs as a user without rights, to whom nothing in it belongs', () => {
  expect(valueOf('USER')).toBe('node');
  expect(instructions.filter(([name, rest]) => (name === 'COPY' || name === 'ADD') && rest.includes('--chown'))).toEqual([]);
  expect(instructions.findIndex(([name]) => name === 'USER')).toBeGreaterThan(instructions.findLastIndex(([name]) => name === 'COPY' || name === 'RUN'));
  expect(stages.length).toBeGreaterThan(2);
});

it('its health check and its command are files that are in it', () => {
  const files = [valueOf('HEALTHCHECK'), valueOf('CMD')].map((text) => (JSON.parse(/\[.*\]/.exec(text)?.[0] ?? '[]') as string[])[1] ?? '');
  expect(files).toEqual(['images/roles/health-check.mjs', 'dist/system/main.js']);
  expect([existsSync(join(ROOT, files[0] ?? '')), existsSync(join(ROOT, 'src/system/main.ts'))]).toEqual([true, true]);
});

/** Undoing: last first, all of it, once. */
import { expect, it } from 'vitest';

import { createTeardown } from './teardown.js';

it('undoes in reverse order, and only once', async () => {
  const done: string[] = [];
  const teardown = createTeardown();
  for (const what of ['stack', 'roles', 'faults']) teardown.push(what, () => Promise.resolve(void done.push(what)));
  expect(await teardown.run()).toEqual([]);
  expect(await teardown.run()).toEqual([]);
  expect(done).toEqual(['faults', 'roles', 'stack']);
});

it('goes on after a step that fails, and tells which', async () => {
  const done: string[] = [];
  const teardown = createTeardown();
  teardown.push('stack', () => Promise.resolve(void done.push('stack')));
  teardown.push('roles', () => Promise.reject(new Error('stuck')));
  const problems = await teardown.run();
  expect(done).toEqual(['stack']);
  expect(problems).toMatchObject([{ what: 'roles', cause: { message: 'stuck' } }]);
});

it('does not wait for ever for a step that hangs', async () => {
  const teardown = createTeardown(20);
  teardown.push('hangs', () => new Promise(() => undefined));
  expect(await teardown.run()).toMatchObject([{ what: 'hangs', cause: { message: 'not done within 20 ms' } }]);
});

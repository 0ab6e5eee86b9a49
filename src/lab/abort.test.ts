/** Every wait of a run ends at once when the user or a dying server says so. */
import { expect, it } from 'vitest';

import { LabError } from '../facts/lab-error.js';
import { orAborted, waitUntil } from './abort.js';

it('gives the value when nothing is aborted', async () => {
  expect(await orAborted(new AbortController().signal, Promise.resolve(7))).toBe(7);
});

it('ends a wait for something that never comes', async () => {
  const controller = new AbortController();
  const waiting = orAborted(controller.signal, new Promise(() => undefined));
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
});

it('leaves no rejection to nobody when the abort came before the wait', async () => {
  const unhandled: unknown[] = [];
  const listen = (cause: unknown): void => void unhandled.push(cause);
  process.on('unhandledRejection', listen);
  try {
    const controller = new AbortController();
    controller.abort();
    let fail: (cause: Error) => void = () => undefined;
    const work = new Promise<never>((_, reject) => (fail = reject));
    await expect(orAborted(controller.signal, work)).rejects.toMatchObject({ code: 'ABORTED' });
    fail(new Error('the server went away'));
    // Node tells of unhandled rejections after the microtasks of the turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', listen);
  }
});

it('carries the reason of the abort when there is one', async () => {
  const controller = new AbortController();
  controller.abort(new LabError('SERVER_DIED', 'kafka died', 'look at its log'));
  await expect(orAborted(controller.signal, Promise.resolve(1))).rejects.toMatchObject({ code: 'SERVER_DIED' });
});

it('waits for a condition, and says false at the bound', async () => {
  let looks = 0;
  const holds = await waitUntil(new AbortController().signal, 5_000, 1, () => {
    looks += 1;
    return Promise.resolve(looks === 3);
  });
  expect(holds).toBe(true);
  expect(await waitUntil(new AbortController().signal, 5, 1, () => Promise.resolve(false))).toBe(false);
});

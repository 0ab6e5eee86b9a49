// A turn of the event loop decides so much and no more, and nobody is overtaken.
import { expect, test } from 'vitest';

import { createTurns } from './turns.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('what is beyond the measure of a turn waits for the next ones, in order', async () => {
  const turns = createTurns(100);
  const entered: number[] = [];
  for (const n of [0, 1, 2, 3, 4, 5]) void turns.enter(60).then(() => entered.push(n));
  await Promise.resolve();
  expect(entered).toEqual([0, 1]);
  await turn();
  expect(entered).toEqual([0, 1, 2, 3]);
  // Who comes now stands behind those who wait.
  void turns.enter(1).then(() => entered.push(6));
  await turn();
  expect(entered).toEqual([0, 1, 2, 3, 4, 5]);
  await turn();
  expect(entered).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('an idle gateway lets a batch in at once, however large it is', async () => {
  const turns = createTurns(100);
  for (let n = 0; n < 3; n += 1) {
    let entered = false;
    void turns.enter(1_000).then(() => (entered = true));
    await Promise.resolve();
    expect(entered).toBe(true);
    await turn();
    await turn();
  }
});

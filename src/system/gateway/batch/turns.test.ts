// A turn of the event loop decides for so long and no longer, and nobody is overtaken.
import { expect, test } from 'vitest';

import { createTurns } from './turns.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Batches that take `eachMs` to decide, by a clock that nothing else moves. */
function deciding(eachMs: number): { readonly entered: number[]; come(n: number): void } {
  let nowMs = 0;
  const turns = createTurns(100, () => nowMs);
  const entered: number[] = [];
  return {
    entered,
    come(n) {
      void turns.enter().then(() => {
        entered.push(n);
        nowMs += eachMs;
      });
    },
  };
}

test('what comes when the time of a turn is over waits for the next ones, in order', async () => {
  const { entered, come } = deciding(60);
  for (const n of [0, 1]) {
    come(n);
    await Promise.resolve();
  }
  for (const n of [2, 3, 4, 5]) come(n);
  await Promise.resolve();
  expect(entered).toEqual([0, 1]);
  await turn();
  expect(entered).toEqual([0, 1, 2, 3]);
  // Who comes now stands behind those who wait.
  come(6);
  await turn();
  expect(entered).toEqual([0, 1, 2, 3, 4, 5]);
  await turn();
  expect(entered).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('what takes no time is decided in the turn in which it came, however much it is', async () => {
  const { entered, come } = deciding(0);
  for (let n = 0; n < 1_000; n += 1) come(n);
  await Promise.resolve();
  expect(entered).toHaveLength(1_000);
});

test('an idle gateway lets a batch in at once, however long it takes', async () => {
  const { entered, come } = deciding(1_000);
  for (let n = 0; n < 3; n += 1) {
    come(n);
    await Promise.resolve();
    expect(entered).toHaveLength(n + 1);
    await turn();
    await turn();
  }
});

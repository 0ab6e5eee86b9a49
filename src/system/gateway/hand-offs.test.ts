// Hand-offs that wait for those who have no answer yet: when they begin, how much of a turn they take, and that none is left behind.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createHandOffs } from './hand-offs.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

let begun: string[] = [];
const begin = (name: string, takesMs = 0) => () => {
  begun.push(name);
  clock += takesMs;
  return Promise.resolve(name !== 'lost');
};
let clock = 0;
beforeEach(() => {
  begun = [];
  clock = 0;
});

test('without a linger each begins at once', async () => {
  const handOffs = createHandOffs(0);
  expect([await handOffs.of(begin('a')), await handOffs.of(begin('lost'))]).toEqual([true, false]);
  expect(begun).toEqual(['a', 'lost']);
});

test('with one they begin together, so long after the first, and each hears what its own came to; the next begin a linger of their own', async () => {
  const handOffs = createHandOffs(250);
  const first = handOffs.of(begin('a'));
  await vi.advanceTimersByTimeAsync(200);
  const second = handOffs.of(begin('lost'));
  expect(begun).toEqual([]);
  await vi.advanceTimersByTimeAsync(50);
  expect(begun).toEqual(['a', 'lost']);
  expect([await first, await second]).toEqual([true, false]);
  const third = handOffs.of(begin('c'));
  await vi.advanceTimersByTimeAsync(249);
  expect(begun).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(await third).toBe(true);
});

test('a turn of the event loop is not filled with them', async () => {
  const handOffs = createHandOffs(250, () => clock);
  const all = Array.from({ length: 10 }, (_, index) => handOffs.of(begin(String(index), 1)));
  let perTurn = 0;
  vi.advanceTimersByTime(250);
  const turns: number[] = [];
  while (begun.length < all.length && turns.length < 20) {
    turns.push(begun.length - perTurn);
    perTurn = begun.length;
    vi.advanceTimersToNextTimer();
  }
  turns.push(begun.length - perTurn);
  expect(turns).toEqual([4, 4, 2]);
  expect(begun).toEqual(Array.from({ length: 10 }, (_, index) => String(index)));
  await Promise.all(all);
});

test('what comes while the others are begun is begun after them, without a linger', async () => {
  const handOffs = createHandOffs(250, () => clock);
  const all = [handOffs.of(begin('a', 9)), handOffs.of(begin('b', 9))];
  vi.advanceTimersByTime(250);
  expect(begun).toEqual(['a']);
  all.push(handOffs.of(begin('c', 9)));
  await vi.advanceTimersByTimeAsync(5);
  expect(begun).toEqual(['a', 'b', 'c']);
  await Promise.all(all);
});

test('a flush begins all that wait, and nothing begins twice', async () => {
  const handOffs = createHandOffs(250, () => clock);
  const all = ['a', 'b', 'c'].map((name) => handOffs.of(begin(name, 9)));
  handOffs.flush();
  expect(begun).toEqual(['a', 'b', 'c']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(begun).toHaveLength(3);
  expect(await Promise.all(all)).toEqual([true, true, true]);
});

test('one that fails by a bug fails alone', async () => {
  const handOffs = createHandOffs(250);
  const broken = expect(handOffs.of(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
  const good = handOffs.of(begin('b'));
  await vi.advanceTimersByTimeAsync(250);
  await broken;
  expect(await good).toBe(true);
});

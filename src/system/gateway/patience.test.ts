// Answers that wait for a hand-off, but not for ever.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createPatience } from './patience.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function handOff(): { promise: Promise<boolean>; resolve(sent: boolean): void; reject(error: Error): void } {
  let [resolve, reject]: [(sent: boolean) => void, (error: Error) => void] = [() => undefined, () => undefined];
  const promise = new Promise<boolean>((ok, no) => {
    [resolve, reject] = [ok, no];
  });
  return { promise, resolve, reject };
}

test('whoever is confirmed in time hears so; the others hear that it is pending when their patience is over', async () => {
  const patience = createPatience(60);
  const [quick, late] = [handOff(), handOff()];
  const start = performance.now();
  const heard: [string, boolean, number][] = [];
  const hear = (name: string) => (sent: boolean): void => void heard.push([name, sent, performance.now() - start]);
  void patience.of(quick.promise, start).then(hear('quick'));
  void patience.of(late.promise, start).then(hear('late'));
  void patience.of(handOff().promise, start + 30).then(hear('later'));
  await vi.advanceTimersByTimeAsync(10);
  quick.resolve(true);
  await vi.advanceTimersByTimeAsync(200);
  late.resolve(true);
  await vi.advanceTimersByTimeAsync(200);
  expect(heard.map(([name, sent]) => [name, sent])).toEqual([['quick', true], ['late', false], ['later', false]]);
  expect(heard[1]?.[2]).toBeLessThanOrEqual(62);
  expect(heard[2]?.[2]).toBeLessThanOrEqual(92);
});

test('a patience that is over already does not wait, and a failed hand-off fails the answer', async () => {
  const patience = createPatience(60);
  const slow = patience.of(handOff().promise, performance.now() - 1_000);
  await vi.advanceTimersByTimeAsync(2);
  expect(await slow).toBe(false);
  const broken = handOff();
  const answer = patience.of(broken.promise, performance.now());
  const caught = expect(answer).rejects.toThrow('bug');
  broken.reject(new Error('bug'));
  await caught;
});

test('without patience the hand-off itself is waited for', async () => {
  const late = handOff();
  const answer = createPatience(null).of(late.promise, -1_000_000);
  late.resolve(true);
  expect(await answer).toBe(true);
});

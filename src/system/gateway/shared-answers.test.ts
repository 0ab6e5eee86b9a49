/** Repeats of one request at once: two decisions at most, none older than who hears it, and nothing is kept. */
import { expect, test } from 'vitest';

import { limited, type GatewayAnswer } from './answers.js';
import { createSharedAnswers } from './shared-answers.js';

function sharing() {
  const share = createSharedAnswers();
  return (key: string, decide: () => Promise<GatewayAnswer>): Promise<GatewayAnswer> => {
    const answer = share(key, 'p', decide);
    if (answer === null) throw new Error('not shared');
    return answer;
  };
}

function asked() {
  const begun: ((answer: GatewayAnswer | Error) => void)[] = [];
  const decide = (): Promise<GatewayAnswer> => new Promise((resolve, reject) => {
    begun.push((answer) => {
      if (answer instanceof Error) reject(answer);
      else resolve(answer);
    });
  });
  return { begun, decide };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('those who come while one is in hand share the next, which begins only then; other keys are apart', async () => {
  const share = sharing();
  const { begun, decide } = asked();
  const first = share('r-1', decide);
  const later = [share('r-1', decide), share('r-1', decide)];
  const other = share('r-2', decide);
  await turn();
  expect(begun).toHaveLength(2);
  begun[0]?.(limited('first'));
  begun[1]?.(limited('other'));
  expect([(await first).answer.requestId, (await other).answer.requestId]).toEqual(['first', 'other']);
  await turn();
  expect(begun).toHaveLength(3);
  // Comes after the second has begun: not its answer.
  const latest = share('r-1', decide);
  begun[2]?.(limited('second'));
  expect((await Promise.all(later)).map(({ answer }) => answer.requestId)).toEqual(['second', 'second']);
  await turn();
  begun[3]?.(limited('third'));
  expect((await latest).answer.requestId).toBe('third');
  void share('r-1', decide);
  expect(begun).toHaveLength(5);
});

test('a decision that fails fails for those who share it, and not for those after', async () => {
  const share = sharing();
  const { begun, decide } = asked();
  const [first, second] = [share('r-1', decide), share('r-1', decide)];
  begun[0]?.(new Error('a bug'));
  await expect(first).rejects.toThrow('a bug');
  await turn();
  begun[1]?.(limited('second'));
  expect((await second).answer.requestId).toBe('second');
});

test('many payloads under one id do not wait beside each other', async () => {
  const share = createSharedAnswers();
  const { begun, decide } = asked();
  const shared = Array.from({ length: 100 }, (_value, index) => share('r-1', `p${String(index)}`, decide));
  expect(shared.map((answer) => answer !== null)).toEqual(shared.map((_answer, index) => index < 2));
  await turn();
  expect(begun).toHaveLength(1);
});

// Containers of one network are never started two at once, and one that fails keeps nobody else from it.
import { expect, it } from 'vitest';

import { oneAfterTheOther } from './one-after-the-other.js';

it('begins each when the one before has ended, however that ended', async () => {
  const inTurn = oneAfterTheOther();
  let underWay = 0;
  let most = 0;
  const order: string[] = [];
  const start = (name: string, fails = false) => inTurn(async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    order.push(name);
    if (fails) throw new Error(`${name} does not start`);
    return name;
  });
  const ended = await Promise.allSettled([start('kafka'), start('postgres', true), start('redis-primary')]);
  expect([most, order]).toEqual([1, ['kafka', 'postgres', 'redis-primary']]);
  expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

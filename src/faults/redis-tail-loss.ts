/**
 * redis-tail-loss: the machine of Redis dies, and the last commands of its append-only file were never on disk (paper `004` §8: 持久化配置仍可能导致已确认写丢失;
 * CASES C4). It comes back with a stock that is too high and without the last reservations, all of which had been acknowledged.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { holdsServer } from './fault-holds.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';
import { redisRestart } from './redis-restart.js';

export const redisTailLoss = defineFault({
  name: 'redis-tail-loss',
  description: 'Redis is killed and comes back after s seconds without its last lose reservations or more: the tail of its append-only file is cut off',
  example: 'redis-tail-loss@t=4s,s=2,lose=50',
  schema: z.strictObject({ t: startTime, s: durationMs('s').default(2_000), lose: wholeNumber(1, 100_000).default(50) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsServer('redis-primary', { t: options.t })],
  needs: () => ['server-files'],
  predict: (options) => `Redis gives no answer until it is started again, and at least ${String(options.lose)} reservations that it had acknowledged are gone`,
  begin: (options, surroundings) => redisRestart(options.lose, options.s, surroundings),
});

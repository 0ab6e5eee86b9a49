/**
 * redis-eviction: somebody has given Redis an eviction policy, memory runs full, and it throws keys of the sale away, without any error (CASES C9).
 *
 * Landed: the server counts evicted keys, and a key of the run that was there is gone. Loses by its own admission: with the records or the index of what is
 * pending, reservations made until then.
 */
import { z } from 'zod';

import type { MayLose } from '../facts/fault-record.js';
import { defineFault } from './fault.js';
import { holdsServer } from './fault-holds.js';
import { until } from './observation.js';
import { startTime } from './option-values.js';

const FILL_BYTES = 65_536;
const EVICTION_BOUND_MS = 20_000;
/** A reservation is stamped by the gateway a moment before Redis makes it. */
const STAMP_MARGIN_MS = 1_000;
/** Without these, what was reserved and not yet handed over is known to nobody. */
const HOLDS_RESERVATIONS: readonly string[] = ['requests', 'pending'];

export const redisEviction = defineFault({
  name: 'redis-eviction',
  description: 'Redis runs full under an eviction policy until a key of the sale is gone, then gets its memory back',
  example: 'redis-eviction@t=4s,policy=allkeys-random',
  schema: z.strictObject({ t: startTime, policy: z.enum(['allkeys-random', 'allkeys-lru'], { error: 'is allkeys-random or allkeys-lru' }).default('allkeys-random') }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsServer('redis-primary', { t: options.t, s: 1_000 })],
  predict: () => 'the server’s count of evicted keys rises, and a key of the run is gone',
  begin: (options, { targets, clock }) => {
    const memory = targets.redisMemory;
    let evicted = 0;
    let gone: readonly string[] = [];
    let mayLose: MayLose | null = null;
    let isBound = false;
    return {
      async inject(signal) {
        const keysBefore = await memory.keys();
        const evictedBefore = await memory.evicted();
        const firstMs = [...(await targets.redis.reservedOn('redis-primary')).values()].reduce((first, at) => Math.min(first, at), clock.wallMs());
        isBound = true;
        await memory.setBound(options.policy, 0);
        await until(clock, EVICTION_BOUND_MS, 5, async () => {
          await memory.fill(FILL_BYTES);
          const left = await memory.keys();
          gone = keysBefore.filter((key) => !left.includes(key));
          return gone.length > 0;
        }, signal);
        await memory.setBound('noeviction', null);
        isBound = false;
        await memory.empty();
        const left = await memory.keys();
        gone = [...new Set([...gone, ...keysBefore.filter((key) => !left.includes(key))])];
        evicted = (await memory.evicted()) - evictedBefore;
        if (gone.some((key) => HOLDS_RESERVATIONS.includes(key))) mayLose = { store: 'redis', fromUs: clock.monoUs() - (clock.wallMs() - firstMs + STAMP_MARGIN_MS) * 1000, toUs: clock.monoUs() };
      },
      async heal() {
        if (isBound) await memory.setBound('noeviction', null);
        isBound = false;
        await memory.empty();
        const answers = await targets.witness.answers('redis-primary');
        return { healed: answers, observed: `policy noeviction, no bound; redis-primary ${answers ? 'answers' : 'DOES NOT ANSWER'}` };
      },
      prove() {
        const landed = evicted > 0 && gone.length > 0;
        return Promise.resolve({ landed, observed: `${String(evicted)} keys evicted; of the run: ${gone.join(', ') || 'none'}`, strikes: landed ? 1 : 0, hits: [], mayLose: landed ? mayLose : null });
      },
    };
  },
});

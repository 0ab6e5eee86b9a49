/**
 * script-flush: Redis forgets its scripts in the middle of the sale, as a restart, a failover or somebody's SCRIPT FLUSH makes it (CASES C5).
 *
 * Landed: each time no script is left, and then the server counts answers NOSCRIPT: the system has asked for one that was gone.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { needsServer } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';

const MISS_BOUND_MS = 5_000;

export const scriptFlush = defineFault({
  name: 'script-flush',
  description: 'Redis forgets its scripts, n times',
  example: 'script-flush@t=2s,n=5,gap=500ms',
  schema: z.strictObject({ t: startTime, n: wholeNumber(1, 1_000).default(5), gap: durationMs('ms').default(500) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: (options) => options.n,
  holds: (options) => [needsServer('redis-primary', { t: options.t })],
  predict: (options) => `${String(options.n)} times no script is left, and the server’s count of NOSCRIPT answers rises`,
  begin: (options, { targets, clock }) => {
    const memory = targets.redisMemory;
    const misses: number[] = [];
    return {
      async inject(signal) {
        const stopped = (): boolean => signal.aborted;
        for (let strike = 0; strike < options.n && !stopped(); strike += 1) {
          const before = await memory.scriptMisses();
          await memory.flushScripts();
          let missed = 0;
          await until(clock, MISS_BOUND_MS, 10, async () => (missed = (await memory.scriptMisses()) - before) > 0, signal);
          misses.push(missed);
          await clock.wait(options.gap, signal);
        }
      },
      async heal() {
        // The system brings its scripts along; where nobody asks for one, none has to be there.
        const asked = misses.some((missed) => missed > 0);
        const healed = !asked || (await until(clock, MISS_BOUND_MS, 50, async () => (await memory.cachedScripts()) > 0));
        return { healed, observed: healed ? 'scripts are there again where they were asked for' : 'NO script is there again' };
      },
      prove() {
        const good = misses.filter((missed) => missed > 0);
        const observed = `${String(misses.length)} times forgotten; answers NOSCRIPT after each: ${misses.join(', ') || 'none'}`;
        return Promise.resolve({ landed: good.length >= options.n, observed, strikes: good.length, hits: [], mayLose: null });
      },
    };
  },
});

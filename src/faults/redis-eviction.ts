/**
 * redis-eviction: somebody has given Redis an eviction policy, memory runs full, and it throws keys of the sale away, without any error (CASES C9).
 *
 * Landed: the server counts evicted keys, and something of the run is gone that the system never takes away: stock, meta, a record, all marks although records
 * hold theirs, or an entry of the index although its record waits. A key that goes with its last entry proves nothing by being gone.
 * Loses by its own admission: with the records or the index, reservations whose messages were not known to be sent when it began, and those made until it ended.
 */
import { z } from 'zod';

import type { MayLose } from '../facts/fault-record.js';
import type { RedisBooks, RedisHoldings } from '../facts/targets.js';
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

/** What is not there any more, and never goes by itself. */
function goneForSure(before: RedisHoldings, now: RedisHoldings): readonly string[] {
  const gone = { stock: before.stock && !now.stock, meta: before.meta && !now.meta, requests: now.records < before.records };
  return Object.entries(gone).filter(([, isGone]) => isGone).map(([name]) => name);
}

/** What of the run was thrown away between two looks. */
function thrownAway(before: RedisBooks, after: RedisBooks): readonly string[] {
  return [
    ...goneForSure(before, after),
    ...(before.marks > 0 && after.marks === 0 && after.marksDue > 0 ? ['users'] : []),
    ...(after.waitingMissing > before.waitingMissing ? ['pending'] : []),
  ];
}

export const redisEviction = defineFault({
  name: 'redis-eviction',
  description: 'Redis runs full under an eviction policy until a key of the sale is gone, then gets its memory back',
  example: 'redis-eviction@t=4s,policy=allkeys-random',
  schema: z.strictObject({ t: startTime, policy: z.enum(['allkeys-random', 'allkeys-lru'], { error: 'is allkeys-random or allkeys-lru' }).default('allkeys-random') }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsServer('redis-primary', { t: options.t, s: 1_000 })],
  predict: () => 'the server’s count of evicted keys rises, and something of the run is gone that the system never takes away',
  begin: (options, { targets, clock }) => {
    const memory = targets.redisMemory;
    let evicted = 0;
    let gone: readonly string[] = [];
    let mayLose: MayLose | null = null;
    let isBound = false;
    return {
      async inject(signal) {
        const before = await memory.books();
        const evictedBefore = await memory.evicted();
        // What was sent stands in the topic, whatever Redis forgets.
        const firstMs = before.unsentAtMs.reduce((first, at) => Math.min(first, at), clock.wallMs());
        isBound = true;
        await memory.setBound(options.policy, 0);
        await until(clock, EVICTION_BOUND_MS, 5, async () => {
          await memory.fill(FILL_BYTES);
          const now = await memory.holdings();
          gone = goneForSure(before, now);
          if (gone.length > 0 || (now.marks > 0 && now.waiting > 0)) return gone.length > 0;
          // May have gone with their last entries, too. A server that is too full to say is asked again, and once more when it is not.
          const books = await memory.books().catch(() => null);
          gone = books === null ? [] : thrownAway(before, books);
          return gone.length > 0;
        }, signal);
        await memory.setBound('noeviction', null);
        const [endUs, endMs] = [clock.monoUs(), clock.wallMs()];
        isBound = false;
        await memory.empty();
        // While the bound was there, more may have gone; a rebuild that has begun meanwhile does not make undone what was seen.
        gone = [...new Set([...gone, ...thrownAway(before, await memory.books())])];
        evicted = (await memory.evicted()) - evictedBefore;
        if (gone.some((key) => HOLDS_RESERVATIONS.includes(key))) mayLose = { store: 'redis', fromUs: endUs - (endMs - firstMs + STAMP_MARGIN_MS) * 1000, toUs: endUs };
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
        return Promise.resolve({ landed, observed: `${String(evicted)} keys evicted; of the run: ${gone.join(', ') || 'nothing for sure'}`, strikes: landed ? 1 : 0, hits: [], mayLose: landed ? mayLose : null });
      },
    };
  },
});

/**
 * deadlock: a foreign transaction takes two tables in the opposite order, and the database has to end one of the two (paper `001` §13.4: 人工构造死锁).
 *
 * One strike: lock the Outbox against writers → see a session of the role wait for it that has written orders → take the table of orders, which that session
 * holds. The lab's session looks for no deadlock, so the other one is the victim.
 * Landed: for each strike the database's own count of deadlocks rises, and the lab gets its second lock.
 */
import { z } from 'zod';

import type { HeldLocks } from '../facts/database-target.js';
import { defineFault } from './fault.js';
import { needsServer } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';

/** A session looks for a deadlock once, so long after its wait began: late enough to close the circle before, and before the system gives up by itself (1 s). */
const DEADLOCK_TIMEOUT_MS = 600;
/** The consumer writes several times a second, but for the time after its last transaction was ended. */
const WAITER_BOUND_MS = 2_000;
const LOOK_EVERY_MS = 10;
/** Strikes tried for each one asked. */
const TRIES_PER_STRIKE = 5;
/** The statistics of a session are told to the others at most once a second. */
const COUNT_BOUND_MS = 3_000;

interface Strike {
  readonly victim: string;
  readonly counted: number;
}

export const deadlock = defineFault({
  name: 'deadlock',
  description: 'n times a foreign transaction and one of the order consumer wait for each other, and the database ends the consumer’s',
  example: 'deadlock@t=2s,n=5,gap=500ms',
  schema: z.strictObject({ t: startTime, n: wholeNumber(1, 1_000).default(5), gap: durationMs('ms').default(500) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: (options) => options.n,
  holds: (options) => [needsServer('postgres', { t: options.t })],
  predict: (options) => `${String(options.n)} times a session of the consumer waits for the lab and the lab for it; the database counts a deadlock each time, and the lab gets its lock`,
  begin: (options, { targets, clock }) => {
    const { database } = targets;
    const strikes: Strike[] = [];
    let lock: HeldLocks | null = null;
    let tries = 0;
    let isSet = false;

    const strikeOnce = async (signal: AbortSignal): Promise<void> => {
      const before = await database.deadlocks();
      lock = await database.lockTable('event_outbox', 'writers');
      let victim = '';
      await until(clock, WAITER_BOUND_MS, LOOK_EVERY_MS, async () => {
        const found = (await lock?.waiters())?.find(({ application, holds }) => application.startsWith('consumer-') && holds.includes('orders'));
        victim = found?.application ?? '';
        return found !== undefined;
      }, signal);
      const got = victim !== '' && (await lock.take('orders'));
      await lock.release();
      if (!got) return;
      let counted = 0;
      await until(clock, COUNT_BOUND_MS, 50, async () => (counted = (await database.deadlocks()) - before) > 0);
      strikes.push({ victim, counted });
    };
    const proven = () => strikes.filter(({ counted }) => counted > 0);

    return {
      async inject(signal) {
        const stopped = (): boolean => signal.aborted;
        isSet = true;
        await database.setDeadlockTimeout(DEADLOCK_TIMEOUT_MS);
        while (proven().length < options.n && tries < options.n * TRIES_PER_STRIKE && !stopped()) {
          tries += 1;
          await strikeOnce(signal);
          if (proven().length < options.n) await clock.wait(options.gap, signal);
        }
      },
      async heal() {
        await lock?.release();
        if (isSet) await database.setDeadlockTimeout(null);
        const answers = await targets.witness.answers('postgres');
        return { healed: answers, observed: `locks let go; postgres ${answers ? 'answers' : 'DOES NOT ANSWER'}` };
      },
      prove() {
        const good = proven();
        return Promise.resolve({
          landed: good.length >= options.n,
          observed: `${String(good.length)} of ${String(options.n)} deadlocks counted by the database in ${String(tries)} tries; ended: ${[...new Set(good.map(({ victim }) => victim))].join(', ') || 'nobody'}`,
          strikes: good.length,
          hits: [],
          mayLose: null,
        });
      },
    };
  },
});

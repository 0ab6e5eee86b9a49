/**
 * row-lock: another transaction holds the hot rows and does not let go (paper `001` §13.4: 行锁长时间持有): the stock row (`inventory`), every unit for sale
 * (`tokens`; CASES C29: a unit that is locked is not sold out), or the unpaid orders (`orders`).
 *
 * Landed: rows are locked, and sessions of the system are seen waiting for them. Units for sale are claimed past a lock, so nobody waits for them: there no
 * order is made while they are held, and messages come in.
 */
import { z } from 'zod';

import { HOT_ROWS, type HeldLocks } from '../facts/database-target.js';
import { defineFault, type FaultInHand, type FaultSurroundings } from './fault.js';
import { needsServer } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, startTime } from './option-values.js';

const LOOK_EVERY_MS = 100;
/** There may be no such row yet, such as unpaid orders. */
const ROWS_BOUND_MS = 20_000;
/** What was committed while the lock was being taken is on its way into the counts. */
const SETTLE_MS = 300;

interface Seen {
  locked: number;
  readonly waiters: Set<string>;
  ordersMade: number;
  messagesCame: number;
}

function rowLock(options: { readonly rows: (typeof HOT_ROWS)[number]; readonly s: number }, { targets, clock }: FaultSurroundings): FaultInHand {
  const { database, witness } = targets;
  let held: HeldLocks | null = null;
  const seen: Seen = { locked: 0, waiters: new Set(), ordersMade: 0, messagesCame: 0 };

  async function lockSome(signal: AbortSignal): Promise<HeldLocks | null> {
    await until(clock, ROWS_BOUND_MS, LOOK_EVERY_MS, async () => {
      const tried = await database.lockRows(options.rows);
      if (tried.count > 0) held = tried;
      else await tried.release();
      return held !== null;
    }, signal);
    return held;
  }

  return {
    async inject(signal) {
      const lock = await lockSome(signal);
      if (lock === null) return;
      seen.locked = lock.count;
      const endUs = clock.monoUs() + options.s * 1000;
      await clock.wait(SETTLE_MS, signal);
      const [ordersBefore, messagesBefore] = [await database.orderCount(), await witness.ordersTopicEnd()];
      await until(clock, (endUs - clock.monoUs()) / 1000, LOOK_EVERY_MS, async () => {
        for (const { application } of await lock.waiters()) seen.waiters.add(application);
        return false;
      }, signal);
      seen.ordersMade = (await database.orderCount()) - ordersBefore;
      seen.messagesCame = (await witness.ordersTopicEnd()) - messagesBefore;
    },
    async heal() {
      await held?.release();
      const answers = await targets.witness.answers('postgres');
      return { healed: answers, observed: `${held === null ? 'nothing was locked' : 'locks let go'}; postgres ${answers ? 'answers' : 'DOES NOT ANSWER'}` };
    },
    prove() {
      const landed = seen.locked > 0 && (options.rows === 'tokens' ? seen.messagesCame > 0 && seen.ordersMade === 0 : seen.waiters.size > 0);
      const observed = `${String(seen.locked)} rows locked (${options.rows}); waited for by ${[...seen.waiters].join(', ') || 'nobody'}; ${String(seen.ordersMade)} orders made and ${String(seen.messagesCame)} messages stored meanwhile`;
      return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null });
    },
  };
}

export const rowLockHeld = defineFault({
  name: 'row-lock',
  description: 'a foreign transaction holds the hot rows for s seconds: rows=inventory (the stock row), tokens (every unit for sale) or orders (unpaid ones)',
  example: 'row-lock@t=2s,s=3,rows=inventory',
  schema: z.strictObject({ t: startTime, s: durationMs('s').default(3_000), rows: z.enum(HOT_ROWS, { error: `is one of ${HOT_ROWS.join(' ')}` }).default('inventory') }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [needsServer('postgres', options)],
  predict: ({ rows }) => (rows === 'tokens' ? 'every unit for sale is locked, and no order is made of the messages that come in' : `rows are locked (${rows}), and sessions of the system are seen waiting for them`),
  begin: (options, surroundings) => rowLock(options, surroundings),
});

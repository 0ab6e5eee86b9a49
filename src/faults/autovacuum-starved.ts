/**
 * autovacuum-starved: a forgotten transaction holds an old snapshot, so that no dead row can be removed while the system makes more and more of them (paper
 * `001` §13.4: Autovacuum 延迟).
 *
 * Landed: VACUUM at the end of it finds dead rows that it may not remove. Healed: the next one removes them.
 */
import { z } from 'zod';

import type { VacuumReport } from '../facts/database-target.js';
import { defineFault } from './fault.js';
import { needsServer } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';

const HEAL_BOUND_MS = 15_000;

export const autovacuumStarved = defineFault({
  name: 'autovacuum-starved',
  description: 'a transaction with an old snapshot keeps VACUUM from removing dead rows for s seconds; at least rows of them have to pile up',
  example: 'autovacuum-starved@t=1s,s=6,rows=100',
  schema: z.strictObject({ t: startTime, s: durationMs('s').default(6_000), rows: wholeNumber(1, 1_000_000).default(100) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [needsServer('postgres', options)],
  predict: (options) => `VACUUM finds at least ${String(options.rows)} dead rows that it may not remove yet`,
  begin: (options, { targets, clock }) => {
    let snapshot: { release(): Promise<void> } | null = null;
    let seen: VacuumReport | null = null;
    return {
      async inject(signal) {
        snapshot = await targets.database.holdSnapshot();
        await clock.wait(options.s, signal);
        seen = await targets.database.vacuum();
      },
      async heal() {
        await snapshot?.release();
        let removed = 0;
        let left = 0;
        // Transactions of the system that are under way now are short.
        const healed = snapshot === null || (await until(clock, HEAL_BOUND_MS, 500, async () => {
          const report = await targets.database.vacuum();
          removed += report.removedRows;
          left = report.unremovableRows;
          return left < options.rows;
        }));
        return { healed, observed: `snapshot let go; ${String(removed)} dead rows removed, ${String(left)} not removable` };
      },
      prove() {
        const landed = seen !== null && seen.unremovableRows >= options.rows;
        return Promise.resolve({ landed, observed: seen === null ? 'never held' : `${String(seen.unremovableRows)} dead rows could not be removed, ${String(seen.removedRows)} could`, strikes: landed ? 1 : 0, hits: [], mayLose: null });
      },
    };
  },
});

/**
 * archive-failing: the command that archives full WAL segments fails, so that segments pile up on the server (paper `001` §13.4: WAL 归档失败).
 *
 * Landed: the server counts failures of its archiver, archives nothing meanwhile, and full segments wait. Healed: none waits any more.
 */
import { z } from 'zod';

import type { ArchiverFigures } from '../facts/database-target.js';
import { defineFault } from './fault.js';
import { needsServer } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, startTime } from './option-values.js';

const LOOK_EVERY_MS = 200;
/** A failing archiver tries three times, a second apart, and then waits for the next segment. */
const HEAL_BOUND_MS = 20_000;

export const archiveFailing = defineFault({
  name: 'archive-failing',
  description: 'archiving WAL segments fails for s seconds, and they pile up',
  example: 'archive-failing@t=2s,s=5',
  schema: z.strictObject({ t: startTime, s: durationMs('s').default(5_000) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [needsServer('postgres', options)],
  predict: () => 'the archiver’s failures are counted, nothing is archived, and full segments wait for it',
  begin: (options, { targets, clock }) => {
    const { database } = targets;
    let before: ArchiverFigures | null = null;
    let after: ArchiverFigures | null = null;
    return {
      async inject(signal) {
        await database.setArchiving(false);
        before = await database.archiver();
        await database.switchSegment();
        await clock.wait(options.s, signal);
        after = await database.archiver();
      },
      async heal() {
        await database.setArchiving(true);
        let waiting = 0;
        const healed = await until(clock, HEAL_BOUND_MS, LOOK_EVERY_MS, async () => {
          waiting = (await database.archiver()).waiting;
          // A new full segment wakes an archiver that has given up for now.
          if (waiting > 0) await database.switchSegment();
          return waiting === 0;
        });
        return { healed, observed: `${String(waiting)} segments wait for the archiver` };
      },
      prove() {
        if (before === null || after === null) return Promise.resolve({ landed: false, observed: 'never broken', strikes: 0, hits: [], mayLose: null });
        const failed = after.failed - before.failed;
        const archived = after.archived - before.archived;
        const landed = failed > 0 && archived === 0 && after.waiting > 0;
        return Promise.resolve({ landed, observed: `${String(failed)} failures counted, ${String(archived)} segments archived, ${String(after.waiting)} waiting`, strikes: landed ? 1 : 0, hits: [], mayLose: null });
      },
    };
  },
});

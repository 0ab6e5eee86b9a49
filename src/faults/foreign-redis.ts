/**
 * foreign-redis: what Redis holds of the SKU names another server as its own, as after a backup of somewhere else was put back. Nobody may trust it: the
 * reconciler pauses admission and builds it anew from durable facts (DESIGN §4; CASES C4). Touches the keys of the run alone, and so no other lane.
 *
 * Landed: the mark was read back as written. Healed: the mark is the server's own again, under a later epoch.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { until } from './observation.js';
import { startTime } from './option-values.js';

/** A rebuild waits for what is under way. */
const REBUILD_BOUND_MS = 30_000;

export const foreignRedis = defineFault({
  name: 'foreign-redis',
  description: 'Redis says that what it holds belongs to another server: it has to be rebuilt from durable facts',
  example: 'foreign-redis@t=3s',
  schema: z.strictObject({ t: startTime }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  predict: () => 'the mark of another server is read back, and a rebuild replaces it under a later epoch',
  begin: (_options, { targets, clock }) => {
    let epochBefore: number | null = null;
    let readBack = false;
    return {
      async inject() {
        epochBefore = (await targets.tampering.mirrorMark()).epoch;
        await targets.tampering.disownMirror();
        readBack = !(await targets.tampering.mirrorMark()).isOwn;
      },
      async heal() {
        if (epochBefore === null) return { healed: true, observed: 'nothing was changed' };
        const before = epochBefore;
        let mark = await targets.tampering.mirrorMark();
        const healed = await until(clock, REBUILD_BOUND_MS, 100, async () => {
          mark = await targets.tampering.mirrorMark();
          return mark.isOwn && mark.epoch > before;
        });
        return { healed, observed: `${mark.isOwn ? 'its own' : 'ANOTHER'} server's mark, epoch ${String(before)} then ${String(mark.epoch)}` };
      },
      prove: () => Promise.resolve({ landed: readBack, observed: readBack ? 'the mark of another server was read back' : 'the mark was not changed', strikes: readBack ? 1 : 0, hits: [], mayLose: null }),
    };
  },
});

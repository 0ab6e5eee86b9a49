/**
 * tamper-redis: somebody changes Redis behind the system's back, so that the ledgers differ while buyers come and go (paper `004` §12; CASES C9).
 *
 * Landed: as many reservations, marks or units were made wrong as asked. Healed: the reconciler has a repair on record for each of them; the
 * fault itself undoes nothing.
 */
import { z } from 'zod';

import { TAMPER_KINDS, type TamperKind } from '../facts/targets.js';
import { defineFault } from './fault.js';
import { until } from './observation.js';
import { startTime, wholeNumber } from './option-values.js';

/** Two looks of the reconciler and their repairs, on a busy machine. */
const REPAIR_BOUND_MS = 40_000;
const PICK_BOUND_MS = 20_000;

export const tamperRedis = defineFault({
  name: 'tamper-redis',
  description: `n reservations, marks or units in Redis made wrong: kind=all or one of ${TAMPER_KINDS.join(', ')}`,
  example: 'tamper-redis@t=3s,kind=order-without-redis-record,n=10',
  schema: z.strictObject({
    t: startTime,
    kind: z.enum(['all', ...TAMPER_KINDS], { error: `is all or one of ${TAMPER_KINDS.join(' ')}` }).default('all'),
    n: wholeNumber(1, 10_000).default(5),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: (options) => (options.kind === 'all' ? TAMPER_KINDS.length : 1),
  predict: (options) => `${String(options.n)} of each kind asked are made wrong, and each is found and repaired`,
  begin: (options, { targets, clock }) => {
    const kinds: readonly TamperKind[] = options.kind === 'all' ? TAMPER_KINDS : [options.kind];
    const made = new Map<TamperKind, string[]>();
    // A counter that is off is one subject, whatever the number of units.
    const asked = (kind: TamperKind): number => (kind === 'stock-counter-off' ? 1 : options.n);
    const open = async (): Promise<number> => {
      let left = 0;
      for (const [kind, subjects] of made) left += subjects.length - (await targets.tampering.repaired(kind, subjects)).length;
      return left;
    };
    return {
      async inject(signal) {
        for (const kind of kinds) {
          const subjects: string[] = [];
          made.set(kind, subjects);
          // There have to be orders before they can be made wrong.
          await until(clock, PICK_BOUND_MS, 100, async () => {
            subjects.push(...(await targets.tampering.tamper(kind, options.n - (kind === 'stock-counter-off' ? 0 : subjects.length))));
            return subjects.length >= asked(kind);
          }, signal);
        }
      },
      async heal() {
        let left = await open();
        await until(clock, REPAIR_BOUND_MS, 200, async () => (left = await open()) === 0);
        return { healed: left === 0, observed: left === 0 ? 'each has its repair on record' : `${String(left)} have NO repair on record` };
      },
      prove() {
        const complete = kinds.filter((kind) => (made.get(kind)?.length ?? 0) >= asked(kind));
        const words = kinds.map((kind) => `${kind} ${String(made.get(kind)?.length ?? 0)}`);
        return Promise.resolve({ landed: complete.length === kinds.length, observed: `made wrong: ${words.join(', ')}`, strikes: complete.length, hits: [], mayLose: null });
      },
    };
  },
});

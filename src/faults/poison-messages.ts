/**
 * poison-messages: records that nobody can work off come into the orders topic among the good ones (paper `000` §7.4; CASES C22). Half of them are no
 * messages at all, half are good messages that the database always refuses, and half of these speak of reservations that Redis has made. Each of them must end on the
 * dead-letter topic, nobody may wait for it, and what was reserved must be released.
 *
 * Landed: there are exactly as many dead letters more as were brought in, each counted once however often it was sent, and Redis made the reservations. The refused users are
 * none of the load, and their refusal stays: taking it back would turn what is still on its way into orders that nobody asked for.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { until } from './observation.js';
import { startTime, wholeNumber } from './option-values.js';

/** A refused message is tried several times, one after the other where they share a partition. */
const GIVE_UP_BOUND_MS = 15_000;
const GIVE_UP_EACH_MS = 1_000;
/** After the storm a consumer that was killed may have yet to come back. */
const PROVE_BOUND_MS = 20_000;

/** Of n records half are refused, and every second one of them was reserved. */
function reservedOf(n: number): number {
  return Math.ceil(Math.floor(n / 2) / 2);
}

export const poisonMessages = defineFault({
  name: 'poison-messages',
  description: 'n records that cannot be worked off come into the orders topic: half malformed, half refused by the database, half of these reserved',
  example: 'poison-messages@t=3s,n=10',
  schema: z.strictObject({ t: startTime, n: wholeNumber(1, 1_000).default(2) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: (options) => options.n,
  predict: (options) => `there are exactly ${String(options.n)} dead letters more, of ${String(reservedOf(options.n))} reservations that Redis has made`,
  begin: (options, { targets, clock }) => {
    let before: number | null = null;
    let after = 0;
    let reserved = 0;
    const grown = async (): Promise<number> => {
      after = await targets.poison.deadLetters();
      return after - (before ?? after);
    };
    return {
      async inject(signal) {
        before = await targets.poison.deadLetters();
        await targets.poison.produceMalformed(Math.ceil(options.n / 2));
        const refused = Math.floor(options.n / 2);
        if (refused > 0) reserved = (await targets.poison.produceRefused(refused)).reserved;
        await until(clock, GIVE_UP_BOUND_MS + options.n * GIVE_UP_EACH_MS, 100, async () => (await grown()) >= options.n, signal);
      },
      heal: () => Promise.resolve({ healed: true, observed: 'nothing more is brought in' }),
      async prove() {
        await until(clock, PROVE_BOUND_MS, 250, async () => (await grown()) >= options.n);
        const count = await grown();
        return { landed: count === options.n && reserved === reservedOf(options.n), observed: `${String(options.n)} brought in, ${String(count)} dead letters more, ${String(reserved)} of reservations`, strikes: Math.min(count, options.n), hits: [], mayLose: null };
      },
    };
  },
});

/**
 * duplicate-compensation: releases and compensations that were done come again, as a broker that delivers twice and an operator who runs a repair twice make
 * them (papers `000` §9.4, `001` §8.2; CASES C30). The system must give each unit back once.
 *
 * Landed: in each round there was something to repeat, and the broker or the database took it.
 */
import { z } from 'zod';

import { EventType } from '../domain/reason-codes.js';
import { defineFault } from './fault.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';

const RELEASES = [EventType.RESERVATION_RELEASED, EventType.RESERVATION_REJECTED, EventType.ORDER_CANCELLED] as const;

interface Round {
  readonly events: number;
  readonly compensations: number;
}

export const duplicateCompensation = defineFault({
  name: 'duplicate-compensation',
  description: 'up to n releases (events and compensation tasks that are done) are delivered again, rounds times',
  example: 'duplicate-compensation@t=5s,n=500,rounds=3',
  schema: z.strictObject({ t: startTime, n: wholeNumber(1, 100_000).default(500), rounds: wholeNumber(1, 100).default(1), gap: durationMs('s').default(1_000) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: (options) => options.rounds,
  predict: (options) => `${String(options.rounds)} times: the broker takes release events once more, or done compensation tasks become due again`,
  begin: (options, { targets, clock }) => {
    const rounds: Round[] = [];
    return {
      async inject(signal) {
        const stopped = (): boolean => signal.aborted;
        while (rounds.length < options.rounds && !stopped()) {
          if (rounds.length > 0) await clock.wait(options.gap, signal);
          if (stopped()) return;
          const [events, compensations] = await Promise.all([targets.redelivery.repeatEvents(RELEASES, options.n), targets.redelivery.repeatCompensations(options.n)]);
          rounds.push({ events, compensations });
        }
      },
      // What was delivered stays delivered; living with it is what is tested.
      heal: () => Promise.resolve({ healed: true, observed: 'nothing is repeated any more' }),
      prove() {
        const good = rounds.filter(({ events, compensations }) => events + compensations > 0);
        return Promise.resolve({
          landed: good.length === options.rounds,
          observed: rounds.map(({ events, compensations }) => `${String(events)} events and ${String(compensations)} compensation tasks again`).join('; ') || 'never struck',
          strikes: good.length,
          hits: [],
          mayLose: null,
        });
      },
    };
  },
});

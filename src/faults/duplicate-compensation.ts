/**
 * duplicate-compensation: releases and compensations that were done come again, as a broker that delivers twice and an operator who runs a repair twice make
 * them (papers `000` §9.4, `001` §8.2; CASES C30). The system must give each unit back once.
 *
 * The system asks for compensations of refunds only; what releases a unit in Redis is the event. So each round also asks for the release of reservations that have
 * ended, by tasks of its own, and the rounds that follow make those due again.
 *
 * Landed: in each round there were both to repeat, events and tasks, and the broker and the database took them.
 */
import { z } from 'zod';

import { EventType } from '../domain/reason-codes.js';
import { defineFault } from './fault.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';

const RELEASES = [EventType.RESERVATION_RELEASED, EventType.RESERVATION_REJECTED, EventType.ORDER_CANCELLED] as const;

interface Round {
  readonly events: number;
  readonly compensations: number;
  /** Tasks of our own: the unit of each had gone back by its event. */
  readonly releases: number;
}

export const duplicateCompensation = defineFault({
  name: 'duplicate-compensation',
  description: 'up to n releases (events, compensation tasks that are done, and tasks that release what has ended) are delivered again, rounds times',
  example: 'duplicate-compensation@t=5s,n=500,rounds=3',
  schema: z.strictObject({ t: startTime, n: wholeNumber(1, 100_000).default(500), rounds: wholeNumber(1, 100).default(1), gap: durationMs('s').default(1_000) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: (options) => options.rounds,
  predict: (options) => `${String(options.rounds)} times: the broker takes release events once more, and the database tasks that release what has ended`,
  begin: (options, { targets, clock }) => {
    const rounds: Round[] = [];
    return {
      async inject(signal) {
        const stopped = (): boolean => signal.aborted;
        while (rounds.length < options.rounds && !stopped()) {
          if (rounds.length > 0) await clock.wait(options.gap, signal);
          if (stopped()) return;
          const { redelivery } = targets;
          const [events, compensations, releases] = await Promise.all([redelivery.repeatEvents(RELEASES, options.n), redelivery.repeatCompensations(options.n), redelivery.askForReleases(options.n)]);
          rounds.push({ events, compensations, releases });
        }
      },
      // What was delivered stays delivered; living with it is what is tested.
      heal: () => Promise.resolve({ healed: true, observed: 'nothing is repeated any more' }),
      prove() {
        const good = rounds.filter(({ events, releases }) => events > 0 && releases > 0);
        return Promise.resolve({
          landed: good.length === options.rounds,
          observed: rounds.map(({ events, compensations, releases }) => `${String(events)} events and ${String(compensations)} compensation tasks again, ${String(releases)} releases asked for`).join('; ') || 'never struck',
          strikes: good.length,
          hits: [],
          mayLose: null,
        });
      },
    };
  },
});

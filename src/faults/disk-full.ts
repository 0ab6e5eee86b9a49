/**
 * disk-full: the disk under PostgreSQL's tables of the run, or under Kafka's log, has no byte left. PostgreSQL goes on and refuses every write that needs a new
 * page; a broker whose only log folder fails ends itself. Needs a local stack and the right to mount (root).
 *
 * Landed: no space was left at both ends, and the server's own log says "No space left on device" of its files; of Kafka also that the broker ended by itself.
 */
import { z } from 'zod';

import { defineFault, type FaultInHand, type FaultSurroundings } from './fault.js';
import { holdsServer } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, startTime } from './option-values.js';

const NO_SPACE = /No space left on device/g;
const LOOK_EVERY_MS = 100;
const HEAL_BOUND_MS = 30_000;
/** Beyond its time the disk stays full until the server has met it, or for so long. */
const MEET_BOUND_MS = 10_000;
/** Less than a page of either server. */
const FULL_BELOW_BYTES = 4_096;

function diskFull(server: 'postgres' | 'kafka', lastsMs: number, { targets, clock }: FaultSurroundings): FaultInHand {
  const disk = targets.disk(server);
  const target = targets.server(server);
  const { witness } = targets;
  const free: number[] = [];
  let state: 'untouched' | 'prepared' | 'full' = 'untouched';
  let complaints = 0;
  let ended = false;
  return {
    async inject(signal) {
      // What was prepared in part has to be taken back too.
      state = 'prepared';
      await disk.prepare();
      const logFrom = await witness.logEnd(server);
      if (server === 'kafka') await target.expectEnd();
      state = 'full';
      await disk.fill();
      // Filling takes its time on a busy host; the fault begins when it is done.
      const endUs = clock.monoUs() + lastsMs * 1000;
      free.push(await disk.freeBytes());
      // Rows that die meanwhile leave room inside pages, never on the disk; what the server itself gives back is taken again.
      await until(clock, (endUs - clock.monoUs()) / 1000, LOOK_EVERY_MS, async () => {
        if ((await disk.freeBytes()) >= FULL_BELOW_BYTES && (await target.isRunning())) await disk.fill();
        return false;
      }, signal);
      await until(clock, MEET_BOUND_MS, LOOK_EVERY_MS, async () => {
        ended = !(await target.isRunning());
        complaints = [...(await witness.loggedSince(server, logFrom)).matchAll(NO_SPACE)].length;
        return complaints > 0 && (ended || server === 'postgres');
      }, signal);
      free.push(await disk.freeBytes());
    },
    async heal() {
      if (state === 'full') await disk.empty();
      if (!(await target.isRunning())) await target.start();
      const answers = await until(clock, HEAL_BOUND_MS, LOOK_EVERY_MS, () => witness.answers(server));
      if (state !== 'untouched') await disk.restore();
      state = 'untouched';
      return { healed: answers, observed: `space given back; ${server} ${answers ? 'answers' : 'DOES NOT ANSWER'}` };
    },
    prove() {
      const isFull = free.length === 2 && free.every((bytes) => bytes < FULL_BELOW_BYTES);
      const landed = isFull && complaints > 0 && (server === 'postgres' || ended);
      const observed = `${free.map((bytes) => `${String(bytes)} B free`).join(', at the end ') || 'never filled'}; ${server} logged "No space left on device" ${String(complaints)} times and ${ended ? 'ended by itself' : 'went on'}`;
      return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null });
    },
  };
}

export const diskIsFull = defineFault({
  name: 'disk-full',
  description: 'no space left for s seconds under the tables of PostgreSQL or under the log of Kafka; needs root',
  example: 'disk-full@server=postgres,t=2s,s=5',
  schema: z.strictObject({ t: startTime, s: durationMs('s').default(5_000), server: z.enum(['postgres', 'kafka'], { error: 'is postgres or kafka' }).default('postgres') }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsServer(options.server, options)],
  needs: ({ server }) => (server === 'kafka' ? ['small-kafka-disk', 'server-files'] : ['server-files']),
  predict: ({ server }) => `no byte is free under ${server}, and its log says that no space is left on the device${server === 'kafka' ? '; the broker ends by itself' : ''}`,
  begin: (options, surroundings) => diskFull(options.server, options.s, surroundings),
});

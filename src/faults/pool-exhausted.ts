/**
 * pool-exhausted: no connection to PostgreSQL is to be had (paper `001` §13.4: 连接池耗尽). `server`: the server has none left, and the roles have lost theirs.
 * `role`: the server is well, and every connection of one role's pool is stuck behind a lock, so that its further work waits in the pool.
 *
 * Landed, `server`: a new connection is refused for want of one, and the roles have no session at the server, at both ends. `role`: in one look every connection
 * that the role's main pool has is seen waiting for the lock, and its own metrics say that work waits for one: a pool that could open another would do so.
 */
import { z } from 'zod';

import { roleOfInstance } from '../domain/roles.js';
import type { HeldConnections, HeldLocks } from '../facts/database-target.js';
import { defineFault, type FaultInHand, type FaultSurroundings } from './fault.js';
import { holdsServer, needsServer } from './fault-holds.js';
import { until } from './observation.js';
import { durationMs, instanceOption, startTime } from './option-values.js';

const LOOK_EVERY_MS = 100;
const BACK_BOUND_MS = 15_000;

interface Options {
  readonly s: number;
  readonly role: ReturnType<typeof instanceOption.parse>;
}

function noneLeft({ s }: Options, { targets, clock }: FaultSurroundings): FaultInHand {
  const { database, witness } = targets;
  const looks: { refuses: boolean; sessions: number }[] = [];
  let taken: HeldConnections | null = null;
  let count = 0;
  return {
    async inject(signal) {
      const before = await witness.answers('postgres');
      if (!before) return;
      taken = await database.takeConnections();
      count = taken.count;
      const endUs = clock.monoUs() + s * 1000;
      const look = async (): Promise<void> => {
        const refuses = await database.refusesConnections();
        looks.push({ refuses, sessions: refuses ? ((await taken?.roleSessions()) ?? 0) : await database.roleSessions() });
      };
      await look();
      await clock.wait((endUs - clock.monoUs()) / 1000, signal);
      await look();
    },
    async heal() {
      await taken?.release();
      const answers = await until(clock, BACK_BOUND_MS, LOOK_EVERY_MS, () => witness.answers('postgres'));
      const sessions = answers && (await until(clock, BACK_BOUND_MS, LOOK_EVERY_MS, async () => (await database.roleSessions()) > 0));
      return { healed: answers && sessions, observed: `${String(count)} connections given back; postgres ${answers ? 'answers' : 'DOES NOT ANSWER'}, and the roles ${sessions ? 'are back' : 'are NOT back'}` };
    },
    prove() {
      const landed = looks.length === 2 && looks.every(({ refuses, sessions }) => refuses && sessions === 0);
      const words = looks.map(({ refuses, sessions }) => `new connections ${refuses ? 'refused' : 'ACCEPTED'}, ${String(sessions)} sessions of roles`);
      return Promise.resolve({ landed, observed: `${String(count)} connections taken; ${words.join('; at the end ') || 'never looked'}`, strikes: landed ? 1 : 0, hits: [], mayLose: null });
    },
  };
}

/** A gauge of the pool that does the role's work; those beside it name themselves `<instance>-<pool>`. NaN: the role shows no such pool. */
function ofMainPool(metrics: Readonly<Record<string, number>>, name: string): number {
  return Object.entries(metrics).find(([series]) => series.startsWith(`${name}{`) && series.includes('pool="main"'))?.[1] ?? Number.NaN;
}

function poolStuck({ s, role }: Options, { targets, clock }: FaultSurroundings): FaultInHand {
  const { database } = targets;
  let lock: HeldLocks | null = null;
  let worst = { stuck: 0, connections: 0, waiting: 0 };
  let landed = false;
  const target = targets.roles(roleOfInstance(role)).find(({ instance }) => instance === role);
  return {
    async inject(signal) {
      if (target === undefined) return;
      lock = await database.lockTable('orders', 'everybody');
      const endUs = clock.monoUs() + s * 1000;
      await until(clock, (endUs - clock.monoUs()) / 1000, LOOK_EVERY_MS, async () => {
        const stuck = (await lock?.waiters())?.filter(({ application }) => application === role).length ?? 0;
        // Asked after the lock, which goes on: who was stuck then is stuck now.
        const metrics = await target.metrics();
        const look = { stuck, connections: ofMainPool(metrics, 'database_pool_total'), waiting: ofMainPool(metrics, 'database_pool_waiting') };
        const isFull = look.waiting > 0 && look.connections > 0 && stuck >= look.connections;
        if (isFull ? !landed || look.waiting > worst.waiting : !landed && stuck > worst.stuck) worst = look;
        landed ||= isFull;
        return false;
      }, signal);
    },
    async heal() {
      await lock?.release();
      const free = target === undefined || (await until(clock, BACK_BOUND_MS, LOOK_EVERY_MS, async () => {
        const metrics = await target.metrics();
        return Object.keys(metrics).length > 0 && !(ofMainPool(metrics, 'database_pool_waiting') > 0);
      }));
      return { healed: free, observed: `lock let go; work of ${role} ${free ? 'no longer waits' : 'STILL WAITS'} for a connection` };
    },
    prove() {
      const { stuck, connections, waiting } = worst;
      const observed = target === undefined ? `no process ${role} runs` : `in one look ${String(stuck)} of ${String(connections)} connections of ${role} stuck behind a lock, and ${String(waiting)} pieces of work waiting for one`;
      return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null });
    },
  };
}

export const poolExhausted = defineFault({
  name: 'pool-exhausted',
  description: 'no connection to PostgreSQL for s seconds: mode=server, the server has none left; mode=role, the pool of one role is stuck behind a lock',
  example: 'pool-exhausted@t=2s,s=4,mode=server',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(4_000),
    mode: z.enum(['server', 'role'], { error: 'is server or role' }).default('server'),
    role: instanceOption.default('payment-1'),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [options.mode === 'server' ? holdsServer('postgres', options) : needsServer('postgres', options)],
  predict: ({ mode, role }) =>
    mode === 'server'
      ? 'a new connection is refused because the server has none left, and the roles have no session there, at both ends'
      : `all connections of ${role} wait for a lock, and its metrics say that work waits for a connection`,
  begin: (options, surroundings) => (options.mode === 'server' ? noneLeft(options, surroundings) : poolStuck(options, surroundings)),
});

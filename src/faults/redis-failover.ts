/**
 * redis-failover: the primary dies and its replica takes over without the last writes, which had been acknowledged (DESIGN §8; papers `000` §15, `004` §11;
 * CASES C4). The replication link is frozen first, so that what is lost is chosen and not left to luck.
 *
 * Landed: at least `lose` reservations stood on the primary just before it was killed and are not on the replica that was promoted.
 * Loses by its own admission: reservations of Redis made from the first lost one until the kill. The door has to stay shut from the kill until the promoted server
 * bears its own mark again, which is when it was rebuilt.
 */
import { z } from 'zod';

import { linkName } from '../domain/roles.js';
import type { ToxicSpec } from '../facts/targets.js';
import { defineFault, type FaultInHand, type FaultSurroundings } from './fault.js';
import { holdsLink, holdsServer } from './fault-holds.js';
import { seenOutage, until } from './observation.js';
import { rolesUsing, startTime, wholeNumber } from './option-values.js';
import { rebuildInWords, watchRebuild, type RebuildWatch } from './watch-rebuild.js';

/** A reservation is stamped by the gateway a moment before Redis makes it, on the same host. */
const STAMP_MARGIN_MS = 1_000;
const LOSE_BOUND_MS = 60_000;
const SERVE_BOUND_MS = 10_000;

interface Seen {
  readonly fromUs: number;
  killedUs: number;
  lost: number;
}

function failover(lose: number, surroundings: FaultSurroundings): FaultInHand {
  const { id, targets, clock } = surroundings;
  const replication = targets.link('replication');
  const primary = targets.server('redis-primary');
  const toxic: ToxicSpec = { name: `lab-${id.replace(/[^a-z0-9]+/g, '-')}`, type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } };
  const links = rolesUsing('redis').filter((role) => targets.roles(role).length > 0).map((role) => targets.link(linkName(role, 'redis')));
  let state: 'whole' | 'frozen' | 'killed' | 'moved' = 'whole';
  let behind = 0;
  let seen: Seen | null = null;
  let rebuilding: Promise<RebuildWatch> | null = null;

  async function takeOver(): Promise<void> {
    await targets.redis.promoteReplica();
    await Promise.all(links.map((link) => link.setUpstream(targets.redis.addressOf('redis-replica'))));
    state = 'moved';
    rebuilding = watchRebuild(surroundings);
  }

  return {
    async inject(signal) {
      await replication.addToxic(toxic);
      state = 'frozen';
      const enough = await until(clock, LOSE_BOUND_MS, 5, async () => {
        behind = (await targets.redis.countOn('redis-primary')) - (await targets.redis.countOn('redis-replica'));
        return behind >= lose;
      }, signal);
      if (!enough || signal.aborted) return;
      const onPrimary = await targets.redis.reservedOn('redis-primary');
      await primary.kill();
      state = 'killed';
      const killedUs = clock.monoUs();
      const onReplica = await targets.redis.reservedOn('redis-replica');
      const lost = [...onPrimary].filter(([requestId]) => !onReplica.has(requestId));
      const firstMs = lost.reduce((first, [, reservedAtMs]) => Math.min(first, reservedAtMs), clock.wallMs());
      seen = { fromUs: killedUs - (clock.wallMs() - firstMs + STAMP_MARGIN_MS) * 1000, killedUs, lost: lost.length };
      await takeOver();
    },
    async heal() {
      // Killed and not moved: a promoted replica is the only way back.
      if (state === 'killed') await takeOver();
      await replication.removeToxic(toxic.name);
      const serves = state === 'moved' ? 'redis-replica' : 'redis-primary';
      const isPrimary = await until(clock, SERVE_BOUND_MS, 50, () => targets.redis.isPrimary(serves));
      const left = await replication.listToxics();
      return {
        healed: isPrimary && !left.includes(toxic.name),
        observed: `${serves} ${isPrimary ? 'serves as primary' : 'DOES NOT SERVE'}; ${state === 'moved' ? `${String(links.length)} proxies lead to it` : 'no failover happened'}`,
      };
    },
    async prove() {
      // Its healing is the promotion; how long the rebuild takes is the system's own affair, and watched beside it.
      const watched = await rebuilding;
      const landed = seen !== null && state === 'moved' && seen.lost >= lose;
      const observed =
        seen === null
          ? `the replica was ${String(behind)} reservations behind, ${String(lose)} asked; nothing was killed`
          : `${String(seen.lost)} acknowledged reservations stood on the primary just before it was killed and are not on the promoted replica${watched === null ? '' : rebuildInWords(watched, seen.killedUs)}`;
      const mayLose = landed && seen !== null ? { store: 'redis' as const, fromUs: seen.fromUs, toUs: seen.killedUs } : null;
      return { landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose, ...seenOutage(seen?.killedUs ?? null, watched?.strangeUs ?? null) };
    },
  };
}

export const redisFailover = defineFault({
  name: 'redis-failover',
  description: 'the replica is cut off, the primary acknowledges lose more reservations and is killed, the replica takes over without them',
  example: 'redis-failover@t=4s,lose=500',
  schema: z.strictObject({ t: startTime, lose: wholeNumber(1, 1_000_000).default(500) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsLink('replication', options), holdsServer('redis-primary', options)],
  predict: (options) => `at least ${String(options.lose)} reservations that the primary acknowledged are not on the replica that takes over`,
  begin: (options, surroundings) => failover(options.lose, surroundings),
});

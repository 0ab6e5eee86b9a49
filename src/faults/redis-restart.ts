/**
 * A primary of Redis that is killed (SIGKILL) and started again on its append-only file, whole or without its last commands, which a dying machine had not yet
 * written down (`appendfsync everysec`). Shared by `redis-down` and `redis-tail-loss`.
 *
 * Landed: it gave no answer at both ends, and as many reservations as asked that stood in it just before are not in it any more. It is away for the gateways until it
 * was rebuilt, and not only until it answers: what it had forgotten nobody could tell from outside.
 */
import type { MayLose } from '../facts/fault-record.js';
import type { FaultInHand, FaultSurroundings } from './fault.js';
import { seenOutage, until } from './observation.js';
import { rebuildInWords, watchRebuild, type RebuildWatch } from './watch-rebuild.js';

const HEAL_BOUND_MS = 30_000;
const SILENT_LOOK_MS = 1_000;
/** A reservation is stamped by the gateway a moment before Redis makes it, on the same host. */
const STAMP_MARGIN_MS = 1_000;
/** What a reservation takes of the append-only file: record, mark, pending entry and stock. Each round takes twice as much as the last. */
const BYTES_PER_RESERVATION = 400;
const ROUNDS = 6;
const ENOUGH_BOUND_MS = 60_000;

export function redisRestart(lose: number, lastsMs: number, surroundings: FaultSurroundings): FaultInHand {
  const { targets, clock } = surroundings;
  const server = targets.server('redis-primary');
  const { redis, redisMemory, witness } = targets;
  const silent: boolean[] = [];
  let lost = 0;
  let cutBytes = 0;
  let mayLose: MayLose | null = null;
  let isDown = false;
  let killedUs: number | null = null;
  let rebuilding: Promise<RebuildWatch> | null = null;

  const down = async (): Promise<void> => {
    isDown = true;
    await server.kill();
  };
  const up = async (): Promise<void> => {
    await server.start();
    isDown = false;
  };
  const look = async (): Promise<void> => {
    silent.push(!(await witness.answers('redis-primary')));
  };

  /** Starts it on a file that is cut far enough; what is missing then against `before`. */
  async function startWithout(before: ReadonlyMap<string, number>, signal: AbortSignal): Promise<readonly number[]> {
    for (let round = 0; ; round += 1) {
      if (lose > 0) cutBytes += await redisMemory.cutTail(lose * BYTES_PER_RESERVATION * 2 ** round);
      await up();
      const after = await redis.reservedOn('redis-primary');
      const missing = [...before].filter(([requestId]) => !after.has(requestId)).map(([, reservedAtMs]) => reservedAtMs);
      if (missing.length >= lose || round + 1 >= ROUNDS || signal.aborted) return missing;
      await down();
    }
  }

  return {
    async inject(signal) {
      // There has to be as much as is to be lost.
      const enough = await until(clock, ENOUGH_BOUND_MS, 20, async () => (await redis.countOn('redis-primary')) >= lose, signal);
      if (!enough || signal.aborted) return;
      const before = await redis.reservedOn('redis-primary');
      const endUs = clock.monoUs() + lastsMs * 1000;
      await down();
      const [deadUs, killedMs] = [clock.monoUs(), clock.wallMs()];
      killedUs = deadUs;
      await look();
      await clock.wait((endUs - clock.monoUs()) / 1000 - SILENT_LOOK_MS, signal);
      await look();
      const missing = await startWithout(before, signal);
      lost = missing.length;
      const firstMs = missing.reduce((first, at) => Math.min(first, at), killedMs);
      // Made after the last reading and before the kill: nobody has counted them, and they are lost first.
      if (lost > 0) mayLose = { store: 'redis', fromUs: deadUs - (killedMs - firstMs + STAMP_MARGIN_MS) * 1000, toUs: deadUs };
    },
    async heal() {
      if (isDown) await up();
      const answers = await until(clock, HEAL_BOUND_MS, 50, () => witness.answers('redis-primary'));
      if (killedUs !== null) rebuilding ??= watchRebuild(surroundings);
      return { healed: answers, observed: `redis-primary started again and ${answers ? 'answers' : 'DOES NOT ANSWER'}` };
    },
    async prove() {
      const watched = await rebuilding;
      const landed = silent.length === 2 && silent.every(Boolean) && lost >= lose;
      const observed = `redis-primary killed; seen ${silent.map((was) => (was ? 'silent' : 'ANSWERING')).join(', at the end ') || 'never'}; ${String(cutBytes)} B of its file cut off, ${String(lost)} reservations gone${watched === null || killedUs === null ? '' : rebuildInWords(watched, killedUs)}`;
      return { landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: landed ? mayLose : null, ...seenOutage(killedUs, watched?.strangeUs ?? null) };
    },
  };
}

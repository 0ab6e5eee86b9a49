/**
 * A server that is killed (SIGKILL) and started again on its data after a while.
 *
 * Landed: it gave no answer on its own direct connection, at both ends of the outage.
 */
import type { FaultInHand, FaultSurroundings } from './fault.js';
import { seenOutage, until } from './observation.js';

const HEAL_BOUND_MS = 30_000;
/** A witness waits so long for an answer that does not come; the last look ends with the outage. */
const LOOK_MS = 1_000;

export function serverRestart(server: 'redis-primary' | 'postgres' | 'kafka', lastsMs: number, { targets, clock }: FaultSurroundings): FaultInHand {
  const target = targets.server(server);
  const silent: boolean[] = [];
  let isDown = false;
  let goneUs: number | null = null;
  let stillGoneUs: number | null = null;
  const look = async (): Promise<void> => {
    silent.push(!(await targets.witness.answers(server)));
  };
  return {
    async inject(signal) {
      const endUs = clock.monoUs() + lastsMs * 1000;
      isDown = true;
      await target.kill();
      goneUs = clock.monoUs();
      await look();
      await clock.wait((endUs - clock.monoUs()) / 1000 - LOOK_MS, signal);
      stillGoneUs = clock.monoUs();
      await look();
    },
    async heal() {
      if (isDown) await target.start();
      isDown = false;
      const answers = await until(clock, HEAL_BOUND_MS, 50, () => targets.witness.answers(server));
      return { healed: answers, observed: `${server} started again and ${answers ? 'answers' : 'DOES NOT ANSWER'}` };
    },
    prove() {
      const landed = silent.length === 2 && silent.every(Boolean);
      const observed = `${server} killed; seen ${silent.map((was) => (was ? 'silent' : 'ANSWERING')).join(', at the end ') || 'never'}`;
      return Promise.resolve({ landed, observed, strikes: landed ? 1 : 0, hits: [], mayLose: null, ...seenOutage(goneUs, stillGoneUs) });
    },
  };
}

/**
 * A server that is there and does not move: SIGSTOP of all its processes, connections stay open. Shared by `pg-outage` and `redis-down`.
 *
 * Landed: it was seen stopped and gave no answer on its own direct connection, at both ends of the outage.
 */
import type { FaultInHand, FaultSurroundings } from './fault.js';
import { seenOutage, until } from './observation.js';

const HEAL_BOUND_MS = 10_000;
/** A witness waits so long for an answer that does not come; the last look ends with the outage. */
const LOOK_MS = 1_000;

export function serverFreeze(server: 'redis-primary' | 'postgres' | 'kafka', lastsMs: number, { targets, clock }: FaultSurroundings): FaultInHand {
  const target = targets.server(server);
  const looks: { frozen: boolean; answered: boolean }[] = [];
  let goneUs: number | null = null;
  let stillGoneUs: number | null = null;
  const look = async (): Promise<void> => {
    looks.push({ frozen: await target.isFrozen(), answered: await targets.witness.answers(server) });
  };
  return {
    async inject(signal) {
      const endUs = clock.monoUs() + lastsMs * 1000;
      await target.freeze();
      goneUs = clock.monoUs();
      await look();
      await clock.wait((endUs - clock.monoUs()) / 1000 - LOOK_MS, signal);
      stillGoneUs = clock.monoUs();
      await look();
    },
    async heal() {
      await target.thaw();
      const frozen = await target.isFrozen();
      const answers = await until(clock, HEAL_BOUND_MS, 50, () => targets.witness.answers(server));
      return { healed: !frozen && answers, observed: `${server} ${frozen ? 'is STILL STOPPED' : 'runs'} and ${answers ? 'answers' : 'DOES NOT ANSWER'}` };
    },
    prove() {
      const landed = looks.length === 2 && looks.every((seen) => seen.frozen && !seen.answered);
      const words = looks.map((seen) => `${seen.frozen ? 'stopped' : 'running'} and ${seen.answered ? 'answering' : 'silent'}`);
      return Promise.resolve({ landed, observed: `${server} seen ${words.join(', at the end ') || 'never'}`, strikes: landed ? 1 : 0, hits: [], mayLose: null, ...seenOutage(goneUs, stillGoneUs) });
    },
  };
}

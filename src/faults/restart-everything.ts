/**
 * restart-everything: every role process is killed (SIGKILL) at once while orders wait for their money, and started again with nothing but what the stores hold
 * (paper `004` §10: "all consumers restart with orders unpaid").
 *
 * Landed, each time: unpaid orders were counted right before, and every process that ran has an exit by SIGKILL of its own since.
 */
import { z } from 'zod';

import { ROLE_NAMES } from '../domain/roles.js';
import type { RoleTarget, Targets } from '../facts/targets.js';
import { defineFault } from './fault.js';
import { until } from './observation.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';

const HEALTHY_BOUND_MS = 20_000;

interface Strike {
  readonly processes: number;
  readonly exits: number;
  readonly unpaid: number;
}

const proves = (strike: Strike): boolean => strike.processes > 0 && strike.exits === strike.processes && strike.unpaid > 0;

function everyRole(targets: Targets): readonly RoleTarget[] {
  return ROLE_NAMES.flatMap((role) => targets.roles(role));
}

function killsOf(roles: readonly RoleTarget[]): readonly number[] {
  return roles.map((role) => role.exits().filter((exit) => exit.signal === 'SIGKILL').length);
}

async function allHealthy(roles: readonly RoleTarget[]): Promise<boolean> {
  return (await Promise.all(roles.map((role) => role.isHealthy()))).every(Boolean);
}

export const restartEverything = defineFault({
  name: 'restart-everything',
  description: 'all role processes are killed at once while orders are unpaid, and started again; times in all, gap between two',
  example: 'restart-everything@t=3s,times=2,gap=4s',
  schema: z.strictObject({ t: startTime, times: wholeNumber(1, 20).default(1), gap: durationMs('s').default(3_000) }),
  startsAfterMs: (options) => options.t,
  strikesAsked: (options) => options.times,
  predict: (options) => `${String(options.times)} times: orders are unpaid, and every role process ends by SIGKILL`,
  begin: (options, { targets, clock }) => {
    const strikes: Strike[] = [];
    const strikeOnce = async (): Promise<void> => {
      const roles = everyRole(targets);
      const before = killsOf(roles);
      const unpaid = await targets.witness.unpaidOrders();
      await Promise.all(roles.map((role) => role.kill()));
      const exits = killsOf(roles).filter((kills, index) => kills > (before[index] ?? 0)).length;
      strikes.push({ processes: roles.length, exits, unpaid });
    };
    return {
      async inject(signal) {
        const stopped = (): boolean => signal.aborted;
        while (strikes.length < options.times && !stopped()) {
          if (strikes.length > 0) await clock.wait(options.gap, signal);
          // A process that is still on its way up has nothing to lose.
          await until(clock, HEALTHY_BOUND_MS, 50, () => allHealthy(everyRole(targets)), signal);
          if (!stopped()) await strikeOnce();
        }
      },
      async heal() {
        const roles = everyRole(targets);
        const healed = await until(clock, HEALTHY_BOUND_MS, 50, () => allHealthy(roles));
        return { healed, observed: `${String(roles.length)} role processes ${healed ? 'healthy' : 'NOT all healthy'}` };
      },
      prove() {
        const good = strikes.filter(proves);
        return Promise.resolve({
          landed: good.length === options.times,
          observed: strikes.map((strike) => `${String(strike.exits)} of ${String(strike.processes)} processes ended by SIGKILL with ${String(strike.unpaid)} orders unpaid`).join('; ') || 'never struck',
          strikes: good.length,
          hits: [],
          mayLose: null,
        });
      },
    };
  },
});

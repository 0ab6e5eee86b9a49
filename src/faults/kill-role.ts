/**
 * kill-role: a role process kills itself with SIGKILL at exact hits of a protocol step, and the supervisor starts it again (papers `000` §7.7,
 * `001` §16; CASES C15, C24). The plan rides into the process at spawn, so the kill is exact, not lucky.
 *
 * Landed: as many step lines as strikes asked, each followed by that process's exit by SIGKILL.
 */
import { z } from 'zod';

import { STEPS } from '../domain/steps.js';
import { defineFault } from './fault.js';
import { until } from './observation.js';
import { stepOption } from './option-values.js';
import { disarmAll, strikeHits, strikeOptions, strikePlans } from './step-strikes.js';

const RESTART_BOUND_MS = 15_000;

export const killRole = defineFault({
  name: 'kill-role',
  description: 'SIGKILL of a role process at the Nth hit of any protocol step, then every Nth, times in all',
  example: 'kill-role@step=gateway.after-reserve,hit=10,every=20,times=50',
  schema: z.strictObject({ step: stepOption, ...strikeOptions }),
  startsAfterMs: () => 0,
  strikesAsked: (options) => options.times,
  predict: (options) => `${String(options.times)} step lines of ${options.step}, each followed by the exit of its process by SIGKILL`,
  plans: (options, id, instances) => strikePlans(options, 'kill', id, instances),
  begin: (options, { id, targets, clock }) => {
    // Each line needs an exit of its own: the one between it and the process's next line.
    const provenHits = () =>
      strikeHits(targets, options.step, id).filter(({ target, hit }, index, all) => {
        const next = all[index + 1]?.target === target ? (all[index + 1]?.hit.monoUs ?? Infinity) : Infinity;
        return target.exits().some((exit) => exit.signal === 'SIGKILL' && exit.monoUs >= hit.monoUs && exit.monoUs <= next);
      });
    const { role } = STEPS[options.step];
    return {
      async inject(signal) {
        await until(clock, Number.MAX_SAFE_INTEGER / 2000, 50, () => Promise.resolve(provenHits().length >= options.times), signal);
      },
      async heal() {
        await disarmAll(targets, options.step, id);
        const healthy = async (): Promise<boolean> => (await Promise.all(targets.roles(role).map((target) => target.isHealthy()))).every(Boolean);
        const healed = await until(clock, RESTART_BOUND_MS, 50, healthy);
        return { healed, observed: `plans disarmed; ${String(targets.roles(role).length)} ${role} processes ${healed ? 'healthy' : 'NOT all healthy'}` };
      },
      prove() {
        const lines = strikeHits(targets, options.step, id);
        const proven = provenHits();
        return Promise.resolve({
          landed: proven.length === options.times && lines.length === options.times,
          observed: `${String(lines.length)} step lines, ${String(proven.length)} of them with an exit by SIGKILL, ${String(options.times)} asked`,
          strikes: proven.length,
          hits: lines.map(({ hit }) => hit),
          mayLose: null,
        });
      },
    };
  },
});

/**
 * clock-skew: the clock of one role, or of one process of it, runs ahead or behind during the whole run (CASES C14). Given to the process at its start; the
 * judges know of it (`RunFacts.clockSkews`).
 *
 * Landed: each process concerned, asked for its time, is as far off as it should be, and the system in it has read that clock.
 */
import { z } from 'zod';

import { ROLE_NAMES, roleOfInstance, type RoleInstance, type RoleName } from '../domain/roles.js';
import { defineFault } from './fault.js';
import { holdsRole } from './fault-holds.js';
import { until } from './observation.js';

/** Asking takes a moment, on a busy host a long one. */
const TOLERANCE_MS = 500;
const LOOK_EVERY_MS = 500;
const SKEW_MAX_MS = 86_400_000;

const skewOption = z.string({ error: 'is missing: how far, such as +60s or -5s' }).transform((text, context) => {
  const match = /^([+-])([0-9]+(?:\.[0-9]+)?)(ms|s|m)?$/.exec(text);
  const value = match === null ? Number.NaN : Math.round(Number(`${match[1] ?? ''}${match[2] ?? ''}`) * { ms: 1, s: 1_000, m: 60_000 }[(match[3] ?? 's') as 'ms' | 's' | 'm']);
  if (!Number.isFinite(value) || value === 0 || Math.abs(value) > SKEW_MAX_MS) {
    context.addIssue({ code: 'custom', message: `is a time with its sign up to a day, such as +60s or -500ms, not ${JSON.stringify(text)}` });
    return z.NEVER;
  }
  return value;
});

const whoOption = z.string({ error: 'is missing: a role such as scanner, or a process such as gateway-2' }).transform((text, context): RoleName | RoleInstance => {
  const role = ROLE_NAMES.find((name) => name === text || (text.startsWith(`${name}-`) && /^-[1-9][0-9]?$/.test(text.slice(name.length))));
  if (role !== undefined) return text as RoleName | RoleInstance;
  context.addIssue({ code: 'custom', message: `is a role or a process of one, not ${JSON.stringify(text)}; roles: ${ROLE_NAMES.join(' ')}` });
  return z.NEVER;
});

const isConcerned = (who: RoleName | RoleInstance, instance: RoleInstance): boolean => instance === who || roleOfInstance(instance) === who;

export const clockSkew = defineFault({
  name: 'clock-skew',
  description: 'the clock of a role, or of one process of it, is off by a time with its sign, during the whole run',
  example: 'clock-skew@role=scanner,by=+60s',
  schema: z.strictObject({ role: whoOption, by: skewOption }),
  startsAfterMs: () => 0,
  strikesAsked: () => 1,
  predict: ({ role, by }) => `${role} says a time that is ${String(by)} ms off, and the system in it has read that clock`,
  skews: ({ role, by }, instances) => instances.filter((instance) => isConcerned(role, instance)).map((instance) => ({ instance, aheadMs: by })),
  holds: ({ role }) => (role.includes('-') ? [holdsRole(role as RoleInstance, { t: 0 })] : []),
  begin: ({ role, by }, { targets, clock }) => {
    const seen = new Map<RoleInstance, { readonly aheadMs: number; readonly reads: number }>();
    const concerned = () => ROLE_NAMES.flatMap((name) => targets.roles(name)).filter(({ instance }) => isConcerned(role, instance));
    const isOff = (instance: RoleInstance): boolean => {
      const last = seen.get(instance);
      return last !== undefined && Math.abs(last.aheadMs - by) <= TOLERANCE_MS && last.reads > 0;
    };
    return {
      async inject(signal) {
        // Until the end of the storm: the last look is the one that counts, since a role that has been idle has not yet read its clock.
        await until(clock, Number.MAX_SAFE_INTEGER / 2000, LOOK_EVERY_MS, async () => {
          for (const target of concerned()) {
            const told = await target.clock();
            if (told !== null) seen.set(target.instance, told);
          }
          return false;
        }, signal);
      },
      // A clock that is wrong stays wrong until its process is gone.
      heal: () => Promise.resolve({ healed: true, observed: 'ends with the process' }),
      prove() {
        const instances = concerned().map(({ instance }) => instance);
        const landed = instances.length > 0 && instances.every(isOff);
        const words = instances.map((instance) => {
          const last = seen.get(instance);
          return last === undefined ? `${instance} was not heard` : `${instance} off by ${String(Math.round(last.aheadMs))} ms, read ${String(last.reads)} times`;
        });
        return Promise.resolve({ landed, observed: words.join('; ') || `no process of ${role} runs`, strikes: landed ? 1 : 0, hits: [], mayLose: null });
      },
    };
  },
});

/**
 * The kinds of values that fault options have. Raw values are strings from `name@key=value,…`; every check says what would be right.
 */
import { z } from 'zod';

import { ROLE_NAMES, STORE_NAMES, linkName, roleOfInstance, ROLE_LINKS, type LinkName, type RoleInstance, type RoleName } from '../domain/roles.js';
import { STEP_NAMES, isStepName } from '../domain/steps.js';

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000 } as const;

/** `3s`, `200ms`, `1m` or a bare number in `bareUnit` → milliseconds, up to one hour. */
export function durationMs(bareUnit: keyof typeof UNIT_MS) {
  return z.string().transform((text, context) => {
    const match = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m)?$/.exec(text);
    const unit = (match?.[2] ?? bareUnit) as keyof typeof UNIT_MS;
    const value = match === null ? Number.NaN : Math.round(Number(match[1]) * UNIT_MS[unit]);
    if (!Number.isFinite(value) || value > 3_600_000) {
      context.addIssue({ code: 'custom', message: `is a time up to 60m such as 3s or 200ms, not ${JSON.stringify(text)}` });
      return z.NEVER;
    }
    return value;
  });
}

/** A whole number of [min, max]. */
export function wholeNumber(min: number, max: number) {
  return z.string().transform((text, context) => {
    const value = /^[0-9]+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      context.addIssue({ code: 'custom', message: `is a whole number from ${String(min)} to ${String(max)}, not ${JSON.stringify(text)}` });
      return z.NEVER;
    }
    return value;
  });
}

/** When after the start of the storm; `t=3s`. */
export const startTime = durationMs('s').default(0);

export const stepOption = z.string({ error: 'is missing: the step to strike at' }).transform((text, context) => {
  if (isStepName(text)) return text;
  const role = text.split('.')[0] ?? '';
  const near = STEP_NAMES.filter((name) => name.startsWith(`${role}.`));
  context.addIssue({ code: 'custom', message: `is no step: ${JSON.stringify(text)}; one of ${(near.length > 0 ? near : STEP_NAMES).join(' ')}` });
  return z.NEVER;
});

/** Every link that a stack has, also those that no role uses: aiming at one of them is allowed, and proves nothing. */
const LINK_NAMES: readonly LinkName[] = ROLE_NAMES.flatMap((role) => STORE_NAMES.map((store) => linkName(role, store)));

export const linkOption = z.string({ error: 'is missing: <role>-<store>, such as gateway-redis' }).transform((text, context) => {
  const link = LINK_NAMES.find((name) => name === text);
  if (link !== undefined) return link;
  context.addIssue({ code: 'custom', message: `is no link: ${JSON.stringify(text)}; one of ${LINK_NAMES.join(' ')}` });
  return z.NEVER;
});

/** `gateway-1`. */
export const instanceOption = z.string({ error: 'is missing: a role process such as consumer-1' }).transform((text, context): RoleInstance => {
  if (/^[a-z]+-[1-9][0-9]?$/.test(text)) {
    try {
      roleOfInstance(text as RoleInstance);
      return text as RoleInstance;
    } catch {
      // Told below, like every other wrong text.
    }
  }
  context.addIssue({ code: 'custom', message: `is a role process such as consumer-1, not ${JSON.stringify(text)}; roles: ${ROLE_NAMES.join(' ')}` });
  return z.NEVER;
});

/** The server that a store is. */
export const SERVER_OF = { redis: 'redis-primary', postgres: 'postgres', kafka: 'kafka' } as const;

/** Roles that use a store. */
export function rolesUsing(store: (typeof STORE_NAMES)[number]): readonly RoleName[] {
  return ROLE_NAMES.filter((role) => ROLE_LINKS[role].includes(store));
}

/**
 * What the lab and a warm process of a lane say to each other: as `role-wire.ts`, but with several roles in one process, each under a key of its own, and
 * roles of one namespace after another. Lab → process on its stdin, process → lab on descriptor 3. When stdin ends the lab is gone.
 */
import type { RoleConfig } from '../../domain/role-config.js';
import type { LineFromRole, LineToRole, RolePlan } from './role-wire.js';

/** Set to `1`: the process hosts roles instead of being one. */
export const ROLE_HOST_VARIABLE = 'SECKILL_ROLE_HOST';

/** Tells roles of a process apart; never used twice in it. */
export type RoleKey = number;

export type LineToHost =
  | { readonly kind: 'start'; readonly key: RoleKey; readonly config: RoleConfig; readonly plan: RolePlan; readonly logFile: string; readonly countsFile: string }
  /** Ends the role in good order, as SIGTERM does to a process of its own. */
  | { readonly kind: 'stop'; readonly key: RoleKey }
  | { readonly kind: 'tell'; readonly key: RoleKey; readonly line: Exclude<LineToRole, { kind: 'start' }> };

export type LineFromHost =
  | { readonly kind: 'said'; readonly key: RoleKey; readonly line: LineFromRole }
  /** The role has ended: 0 in good order, 1 not. */
  | { readonly kind: 'ended'; readonly key: RoleKey; readonly code: 0 | 1 };

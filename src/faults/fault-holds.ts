/** What the faults of this folder hold while they last, said in one line each. */
import { linkName, type LinkName, type RoleInstance, type RoleName, type StoreName } from '../domain/roles.js';
import type { ServerName } from '../facts/stack-description.js';
import type { FaultHold } from './fault.js';
import { rolesUsing } from './option-values.js';

/** From when and how long, milliseconds; without a length: as long as it takes. */
export interface HoldTime {
  readonly t: number;
  readonly s?: number | undefined;
}

function lasting({ t, s }: HoldTime): Pick<FaultHold, 'fromMs' | 'toMs'> {
  return { fromMs: t, toMs: s === undefined ? Infinity : t + s };
}

/** The whole server, which is not there or not itself for anybody else. */
export function holdsServer(name: ServerName, time: HoldTime): FaultHold {
  return { kind: 'server', name, shared: false, ...lasting(time) };
}

/** The server has to run. */
export function needsServer(name: ServerName, time: HoldTime): FaultHold {
  return { kind: 'server', name, shared: true, ...lasting(time) };
}

export function holdsLink(name: LinkName | 'replication', time: HoldTime): FaultHold {
  return { kind: 'link', name, shared: false, ...lasting(time) };
}

/** Every way to a store, or that of one role. */
export function holdsLinksTo(store: StoreName, role: RoleName | 'all', time: HoldTime): readonly FaultHold[] {
  return (role === 'all' ? rolesUsing(store) : [role]).map((each) => holdsLink(linkName(each, store), time));
}

export function holdsRole(name: RoleInstance, time: HoldTime): FaultHold {
  return { kind: 'role', name, shared: false, ...lasting(time) };
}

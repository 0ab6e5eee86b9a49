/** The ways in which a whole store can be away, shared by `pg-outage`, `redis-down` and `broker-outage`: what each is called, predicts, holds and does. */
import { z } from 'zod';

import type { RoleName, StoreName } from '../domain/roles.js';
import { ROLE_NAMES } from '../domain/roles.js';
import type { FaultHold, FaultInHand, FaultSurroundings } from './fault.js';
import { holdsLinksTo, holdsServer } from './fault-holds.js';
import { linkOutage } from './link-outage.js';
import { SERVER_OF } from './option-values.js';
import { serverFreeze } from './server-freeze.js';
import { serverRestart } from './server-restart.js';
import { serverUnplug } from './server-unplug.js';

export const outageMode = z.enum(['proxy', 'freeze', 'kill', 'unplug'], { error: 'is proxy, freeze, kill or unplug' }).default('proxy');
export type OutageMode = z.output<typeof outageMode>;
export const outageRole = z.enum(['all', ...ROLE_NAMES], { error: `is all or one of ${ROLE_NAMES.join(' ')}` }).default('all');

export interface Outage {
  readonly t: number;
  readonly s: number;
  readonly mode: OutageMode;
  /** Mode proxy only. */
  readonly role: RoleName | 'all';
}

export const OUTAGE_DESCRIPTION = 'mode=proxy cuts and refuses, mode=freeze leaves it silent, mode=unplug loses what is sent to it, mode=kill ends it and starts it again';

export function predictOutage(called: string, { mode }: Pick<Outage, 'mode'>): string {
  switch (mode) {
    case 'proxy':
      return `connections to ${called} are cut (their bytes are counted) and refused, and no byte passes until the heal`;
    case 'freeze':
      return 'the server is seen stopped and gives no answer on its direct connection';
    case 'kill':
      return 'the server gives no answer on its direct connection until it is started again';
    case 'unplug':
      return 'the server is seen unplugged, and conversations over its links that were answered before are not answered until the heal';
  }
}

export function holdsOutage(store: StoreName, options: Outage): readonly FaultHold[] {
  return options.mode === 'proxy' ? holdsLinksTo(store, options.role, options) : [holdsServer(SERVER_OF[store], options)];
}

export function storeOutage(store: StoreName, { mode, s, role }: Outage, surroundings: FaultSurroundings): FaultInHand {
  switch (mode) {
    case 'proxy':
      return linkOutage(store, s, role, surroundings);
    case 'freeze':
      return serverFreeze(SERVER_OF[store], s, surroundings);
    case 'kill':
      return serverRestart(SERVER_OF[store], s, surroundings);
    case 'unplug':
      return serverUnplug(store, s, surroundings);
  }
}

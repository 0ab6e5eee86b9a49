/**
 * broker-outage: Kafka is away for a while (papers `000` §13.4, `004` §10): unreachable (`proxy`: connections cut and refused), there and silent (`freeze`), or
 * killed and started again (`kill`). Loses nothing: what was acknowledged is in the log, and a killed process leaves its pages to the kernel.
 */
import { z } from 'zod';

import { ROLE_NAMES } from '../domain/roles.js';
import { defineFault } from './fault.js';
import { holdsLinksTo, holdsServer } from './fault-holds.js';
import { linkOutage } from './link-outage.js';
import { durationMs, startTime } from './option-values.js';
import { serverFreeze } from './server-freeze.js';
import { serverRestart } from './server-restart.js';

export const brokerOutage = defineFault({
  name: 'broker-outage',
  description: 'Kafka is away for s seconds: mode=proxy cuts and refuses, mode=freeze leaves it silent, mode=kill ends it and starts it again',
  example: 'broker-outage@t=4s,s=6',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(5_000),
    mode: z.enum(['proxy', 'freeze', 'kill'], { error: 'is proxy, freeze or kill' }).default('proxy'),
    role: z.enum(['all', ...ROLE_NAMES], { error: `is all or one of ${ROLE_NAMES.join(' ')}` }).default('all'),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => (options.mode === 'proxy' ? holdsLinksTo('kafka', options.role, options) : [holdsServer('kafka', options)]),
  predict: ({ mode }) =>
    mode === 'freeze'
      ? 'the broker is seen stopped and gives no answer on its direct connection'
      : mode === 'kill'
        ? 'the broker gives no answer on its direct connection until it is started again'
        : 'connections to Kafka are cut (their bytes are counted) and refused, and no byte passes until the heal',
  begin: ({ mode, s, role }, surroundings) =>
    mode === 'freeze' ? serverFreeze('kafka', s, surroundings) : mode === 'kill' ? serverRestart('kafka', s, surroundings) : linkOutage('kafka', s, role, surroundings),
});

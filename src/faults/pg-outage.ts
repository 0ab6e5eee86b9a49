/**
 * pg-outage: PostgreSQL is away for a while, either unreachable (`proxy`: connections cut and refused) or there and silent (`freeze`:
 * connections open, nothing answers), or killed and started again on its data (`kill`). Papers `000` §13.4, `001` §13.4. Loses nothing: commits that were answered are on disk.
 */
import { z } from 'zod';

import { ROLE_NAMES } from '../domain/roles.js';
import { defineFault } from './fault.js';
import { holdsLinksTo, holdsServer } from './fault-holds.js';
import { linkOutage } from './link-outage.js';
import { durationMs, startTime } from './option-values.js';
import { serverFreeze } from './server-freeze.js';
import { serverRestart } from './server-restart.js';

export const pgOutage = defineFault({
  name: 'pg-outage',
  description: 'PostgreSQL is away for s seconds: mode=proxy cuts and refuses, mode=freeze leaves it silent, mode=kill ends it and starts it again',
  example: 'pg-outage@t=2s,s=30,mode=proxy',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(30_000),
    mode: z.enum(['proxy', 'freeze', 'kill'], { error: 'is proxy, freeze or kill' }).default('proxy'),
    role: z.enum(['all', ...ROLE_NAMES], { error: `is all or one of ${ROLE_NAMES.join(' ')}` }).default('all'),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => (options.mode === 'proxy' ? holdsLinksTo('postgres', options.role, options) : [holdsServer('postgres', options)]),
  predict: (options) =>
    options.mode === 'freeze'
      ? 'the server is seen stopped and gives no answer on its direct connection'
      : options.mode === 'kill'
        ? 'the server gives no answer on its direct connection until it is started again'
        : 'connections to PostgreSQL are cut (their bytes are counted) and refused, and no byte passes until the heal',
  begin: (options, surroundings) =>
    options.mode === 'freeze' ? serverFreeze('postgres', options.s, surroundings) : options.mode === 'kill' ? serverRestart('postgres', options.s, surroundings) : linkOutage('postgres', options.s, options.role, surroundings),
});

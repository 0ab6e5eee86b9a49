/**
 * redis-down: the roles cannot reach Redis for a while (`proxy`), or it is there and silent (`freeze`). Papers `000` §7.11, §13.4. The server
 * itself lives on, so it loses nothing.
 */
import { z } from 'zod';

import { ROLE_NAMES } from '../domain/roles.js';
import { defineFault } from './fault.js';
import { holdsLinksTo, holdsServer } from './fault-holds.js';
import { linkOutage } from './link-outage.js';
import { durationMs, startTime } from './option-values.js';
import { serverFreeze } from './server-freeze.js';

export const redisDown = defineFault({
  name: 'redis-down',
  description: 'Redis is unreachable for s seconds: mode=proxy cuts and refuses, mode=freeze leaves it silent',
  example: 'redis-down@t=2s,s=5',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(5_000),
    mode: z.enum(['proxy', 'freeze'], { error: 'is proxy or freeze' }).default('proxy'),
    role: z.enum(['all', ...ROLE_NAMES], { error: `is all or one of ${ROLE_NAMES.join(' ')}` }).default('all'),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => (options.mode === 'proxy' ? holdsLinksTo('redis', options.role, options) : [holdsServer('redis-primary', options)]),
  predict: (options) =>
    options.mode === 'freeze'
      ? 'the server is seen stopped and gives no answer on its direct connection'
      : 'connections to Redis are cut (their bytes are counted) and refused, and no byte passes until the heal',
  begin: (options, surroundings) =>
    options.mode === 'freeze' ? serverFreeze('redis-primary', options.s, surroundings) : linkOutage('redis', options.s, options.role, surroundings),
});

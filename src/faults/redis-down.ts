/**
 * redis-down: the roles cannot reach Redis for a while (`proxy`), or it is there and silent (`freeze`), or it is killed
 * and started again on its append-only file (`kill`). Papers `000` §7.11, §13.4. After a restart nobody may reserve until a reconciler has rebuilt it; what it
 * had not yet handed to the kernel is lost, and the fault says so.
 */
import { z } from 'zod';

import { ROLE_NAMES } from '../domain/roles.js';
import { defineFault } from './fault.js';
import { holdsLinksTo, holdsServer } from './fault-holds.js';
import { linkOutage } from './link-outage.js';
import { durationMs, startTime } from './option-values.js';
import { redisRestart } from './redis-restart.js';
import { serverFreeze } from './server-freeze.js';

export const redisDown = defineFault({
  name: 'redis-down',
  description: 'Redis is unreachable for s seconds: mode=proxy cuts and refuses, mode=freeze leaves it silent, mode=kill ends it and starts it again (needs the role reconciler)',
  example: 'redis-down@t=2s,s=5',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(5_000),
    mode: z.enum(['proxy', 'freeze', 'kill'], { error: 'is proxy, freeze or kill' }).default('proxy'),
    role: z.enum(['all', ...ROLE_NAMES], { error: `is all or one of ${ROLE_NAMES.join(' ')}` }).default('all'),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => (options.mode === 'proxy' ? holdsLinksTo('redis', options.role, options) : [holdsServer('redis-primary', options)]),
  predict: (options) =>
    options.mode === 'freeze'
      ? 'the server is seen stopped and gives no answer on its direct connection'
      : options.mode === 'kill'
        ? 'the server gives no answer on its direct connection until it is started again'
        : 'connections to Redis are cut (their bytes are counted) and refused, and no byte passes until the heal',
  begin: (options, surroundings) =>
    options.mode === 'freeze' ? serverFreeze('redis-primary', options.s, surroundings) : options.mode === 'kill' ? redisRestart(0, options.s, surroundings) : linkOutage('redis', options.s, options.role, surroundings),
});

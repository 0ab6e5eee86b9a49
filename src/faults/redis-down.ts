/**
 * redis-down: the roles cannot reach Redis for a while (`proxy`), or it is there and silent (`freeze`), or cut off from its network (`unplug`), or it is killed
 * and started again on its append-only file (`kill`). Papers `000` §7.11, §13.4. After a restart nobody may reserve until a reconciler has rebuilt it; what it
 * had not yet handed to the kernel is lost, and the fault says so.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { durationMs, startTime } from './option-values.js';
import { redisRestart } from './redis-restart.js';
import { holdsOutage, OUTAGE_DESCRIPTION, outageMode, outageRole, predictOutage, storeOutage } from './store-outage.js';

export const redisDown = defineFault({
  name: 'redis-down',
  description: `Redis is unreachable for s seconds: ${OUTAGE_DESCRIPTION} (needs the role reconciler)`,
  example: 'redis-down@t=2s,s=5',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(5_000),
    mode: outageMode,
    role: outageRole,
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => holdsOutage('redis', options),
  predict: (options) => predictOutage('Redis', options),
  begin: (options, surroundings) => (options.mode === 'kill' ? redisRestart(0, options.s, surroundings) : storeOutage('redis', options, surroundings)),
});

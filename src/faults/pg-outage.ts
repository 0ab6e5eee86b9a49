/**
 * pg-outage: PostgreSQL is away for a while, either unreachable (`proxy`: connections cut and refused) or there and silent (`freeze`:
 * connections open, nothing answers), cut off from its network (`unplug`), or killed and started again on its data (`kill`). Papers `000` §13.4, `001` §13.4. Loses nothing: commits that were answered are on disk.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { durationMs, startTime } from './option-values.js';
import { holdsOutage, OUTAGE_DESCRIPTION, outageMode, outageRole, predictOutage, storeOutage } from './store-outage.js';

export const pgOutage = defineFault({
  name: 'pg-outage',
  description: `PostgreSQL is away for s seconds: ${OUTAGE_DESCRIPTION}`,
  example: 'pg-outage@t=2s,s=30,mode=proxy',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(30_000),
    mode: outageMode,
    role: outageRole,
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => holdsOutage('postgres', options),
  predict: (options) => predictOutage('PostgreSQL', options),
  begin: (options, surroundings) => storeOutage('postgres', options, surroundings),
});

/**
 * broker-outage: Kafka is away for a while (papers `000` §13.4, `004` §10): unreachable (`proxy`: connections cut and refused), there and silent (`freeze`), cut
 * off from its network (`unplug`), or killed and started again (`kill`). Loses nothing: what was acknowledged is in the log, and a killed process leaves its pages to the kernel.
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { durationMs, startTime } from './option-values.js';
import { holdsOutage, OUTAGE_DESCRIPTION, outageMode, outageRole, predictOutage, storeOutage } from './store-outage.js';

export const brokerOutage = defineFault({
  name: 'broker-outage',
  description: `Kafka is away for s seconds: ${OUTAGE_DESCRIPTION}`,
  example: 'broker-outage@t=4s,s=6',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(5_000),
    mode: outageMode,
    role: outageRole,
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => holdsOutage('kafka', options),
  predict: (options) => predictOutage('Kafka', options),
  begin: (options, surroundings) => storeOutage('kafka', options, surroundings),
});

/** All service levels by name. */
import type { ServiceLevelSpec } from '../../facts/facts.js';
import { apiP99 } from './api-p99.js';
import { decided } from './decided.js';
import { orderWithin3s } from './order-within-3s.js';
import { recoveryTime } from './recovery-time.js';
import type { ServiceLevelJudge } from './service-level.js';
import { winnersP99 } from './winners-p99.js';

export const SERVICE_LEVELS: Readonly<Record<ServiceLevelSpec['name'], ServiceLevelJudge>> = {
  'api-p99': apiP99,
  'winners-p99': winnersP99,
  decided,
  'order-within-3s': orderWithin3s,
  'recovery-time': recoveryTime,
  drained: recoveryTime,
};

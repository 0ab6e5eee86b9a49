/** The funnel with nothing in it but the bound on requests in hand: for a submit function that stands alone, in tests and when it is warmed up. */
import { DEFAULT_FUNNEL } from '../../../domain/funnel.js';
import type { RoleConfig } from '../../../domain/role-config.js';
import type { LogProducer } from '../../order-log/order-log-port.js';
import type { RoleSurroundings } from '../../role.js';
import type { Admission } from '../admission.js';
import { GatewayFunnel } from './gateway-funnel.js';

export interface OpenFunnelDependencies {
  readonly admission: Admission;
  readonly producer: Pick<LogProducer, 'ready'>;
  readonly config: Pick<RoleConfig, 'activityId' | 'skuIds' | 'tuning'>;
  readonly surroundings: RoleSurroundings;
}

export function openFunnel({ admission, producer, config, surroundings }: OpenFunnelDependencies): GatewayFunnel {
  return new GatewayFunnel({
    admission, producer, surroundings,
    config: { activityId: config.activityId, skuIds: config.skuIds, instance: 'gateway-0', tuning: { ...config.tuning, funnel: DEFAULT_FUNNEL } },
    reader: { lookup: () => Promise.resolve({ outcome: 'unavailable', reason: 'not asked' }) },
    metrics: { counter: () => ({ add: () => undefined }), gauge: () => ({ set: () => undefined }), beforeText: () => undefined },
    view: null,
    book: null,
    gauge: null,
  });
}

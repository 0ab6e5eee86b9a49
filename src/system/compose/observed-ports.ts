/** Each real port as a role gets it: measured, and traced where tracing is on. A wrong design's port is observed like a right one. */
import type { RoleConfig } from '../../domain/role-config.js';
import { measuredProducer } from '../order-log/measured-producer.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleTracing } from '../tracing/request-trace.js';
import { tracedConsumer, tracedLedger, tracedOutbox, tracedProducer, tracedStock } from '../tracing/traced-ports.js';
import type { RolePorts } from './ports.js';

type Observers = { readonly [Port in keyof RolePorts]?: (port: RolePorts[Port]) => RolePorts[Port] };

/** What to put around each port; a port without an entry stays as it is. */
export function portObservers({ namespace }: RoleConfig, metrics: RoleMetrics, roleTracing: RoleTracing | null): Observers {
  const measured = (producer: RolePorts['producer']): RolePorts['producer'] => measuredProducer(producer, metrics, namespace);
  if (roleTracing === null) return { producer: measured };
  const { tracing } = roleTracing;
  return {
    producer: (producer) => tracedProducer(tracing, measured(producer), namespace),
    consumer: (consumer) => tracedConsumer(tracing, consumer, namespace),
    ledger: (ledger) => tracedLedger(tracing, ledger),
    stock: (stock) => tracedStock(tracing, stock),
    outbox: (outbox) => tracedOutbox(tracing, outbox),
  };
}

/** When a server in a container is ready: the same questions as of a local one, over the same direct addresses. */
import type { PostgresAddress } from '../../domain/role-config.js';
import type { ServerName } from '../../facts/stack-description.js';
import { KAFKA_READY } from '../local/kafka-server.js';
import type { PortPlan } from '../local/port-plan.js';
import { postgresIsReady, redisIsReady } from '../local/server-readiness.js';
import type { ToxiproxyApi } from '../local/toxiproxy-api.js';

/** @param log what the container has written since its last start. */
export type ContainerReadiness = (log: () => Promise<string>) => Promise<boolean>;

export function readinessOf(name: ServerName, ports: Pick<PortPlan, 'redisPrimary' | 'redisReplica'>, postgres: PostgresAddress, toxiproxy: ToxiproxyApi): ContainerReadiness {
  switch (name) {
    case 'redis-primary':
    case 'redis-replica': {
      const isReady = redisIsReady({ host: '127.0.0.1', port: name === 'redis-primary' ? ports.redisPrimary : ports.redisReplica });
      return () => isReady(0);
    }
    case 'postgres': {
      // The server that initialises the data folder takes no connection from outside, so the first answer is the real one's.
      const isReady = postgresIsReady(() => postgres);
      return () => isReady(0);
    }
    case 'kafka':
      return async (log) => (await log()).includes(KAFKA_READY);
    case 'toxiproxy':
      return () => toxiproxy.version().then(() => true, () => false);
  }
}

/** What the reconciler is made of. */
import type { RoleConfig } from '../../domain/role-config.js';
import { createReconciliationStore } from '../ledger/reconciliation-store.js';
import { startOrderLogReader } from '../order-log/order-log-reader.js';
import { startReconciler, type ReconcilerDependencies } from '../recovery/reconciler.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import { connectMirror, type RedisMirror } from '../stock/mirror.js';
import type { PortMaker } from './ports.js';

/** Its own ports: nobody else reads whole ledgers. Also what the command `reconcile` works with. */
export async function reconcilerPorts(config: RoleConfig, surroundings: RoleSurroundings, mirror?: RedisMirror): Promise<Pick<ReconcilerDependencies, 'mirror' | 'store' | 'reader'>> {
  const { addresses, instance, namespace, tuning } = config;
  return {
    mirror: mirror ?? connectMirror(addresses.redis, namespace, { connectionName: instance }),
    store: createReconciliationStore(config, surroundings),
    reader: await startOrderLogReader({
      address: addresses.kafka, clientId: instance, namespace, sessionTimeoutMs: tuning.consumerSessionTimeoutMs,
      log: (level, text, fields) => {
        surroundings.log(level, text, fields);
      },
    }),
  };
}

export async function composeReconciler(config: RoleConfig, make: PortMaker): Promise<RunningRole> {
  const ports = await reconcilerPorts(config, make.surroundings, make.mirror());
  return startReconciler({ ...ports, producer: make.steadyProducer(config.namespace.ordersTopic), metrics: make.metrics }, config, make.surroundings);
}

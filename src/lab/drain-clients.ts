/** Opens the direct clients that a drain probe needs, and closes them. */
import { Kafka, logLevel } from 'kafkajs';

import { roleOfInstance } from '../domain/roles.js';
import type { StackDescription } from '../facts/stack-description.js';
import type { DrainProbe } from './drained.js';
import type { RunPlan } from './run-plan.js';
import { directPostgres, directRedis } from './store-clients.js';

export interface OpenDrainProbe extends DrainProbe {
  close(): Promise<void>;
}

/** `stack.description` is read anew each time: after a failover the probe asks the Redis that is the primary then. */
export async function openDrainProbe(plan: RunPlan, stack: { readonly description: StackDescription }): Promise<OpenDrainProbe> {
  const { kafka: broker, postgres: postgresAddress } = stack.description.direct;
  const kafka = new Kafka({
    clientId: 'lab-drain-probe',
    brokers: [`${broker.host}:${String(broker.port)}`],
    logLevel: logLevel.NOTHING,
    requestTimeout: 5_000,
    retry: { retries: 3, initialRetryTime: 100 },
  });
  const admin = kafka.admin();
  let address = stack.description.direct.redisPrimary;
  let redis = directRedis(address);
  const postgres = await directPostgres(postgresAddress, plan.namespace.database);
  try {
    await admin.connect();
  } catch (cause) {
    await postgres.end().catch(() => undefined);
    redis.disconnect();
    throw cause;
  }
  return {
    get redis() {
      const now = stack.description.direct.redisPrimary;
      if (now.port !== address.port || now.host !== address.host) {
        redis.disconnect();
        address = now;
        redis = directRedis(now);
      }
      return redis;
    },
    admin,
    postgres,
    namespace: plan.namespace,
    sku: { activityId: plan.load.activityId, skuId: plan.load.skuId },
    roles: new Set(plan.instances.map(roleOfInstance)),
    ordersEnd: plan.load.payers !== null,
    async close() {
      redis.disconnect();
      await Promise.allSettled([admin.disconnect(), postgres.end()]);
    },
  };
}

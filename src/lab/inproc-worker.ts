/**
 * The gateway's submit and query inside the generator's process, for the `inproc` transport: the real gateway over its own proxies, only its HTTP server is
 * missing. Loaded by the generator from the path in its job, since src/load may not import the system.
 */
import type { RoleConfig } from '../domain/role-config.js';
import type { InprocGateway } from '../load/inproc-port.js';
import { composeGatewayCore } from '../system/compose.js';

const READY_TIMEOUT_MS = 30_000;
const ASK_AGAIN_MS = 50;

/** Resolves when Redis, Kafka and PostgreSQL answer through the gateway's links; rejects with what is missing after 30 s. */
export async function openInprocGateway(config: RoleConfig): Promise<InprocGateway> {
  const [skuId] = config.skuIds;
  if (skuId === undefined) throw new Error('a gateway needs a SKU');
  const { activityId } = config;
  const core = composeGatewayCore(config);
  const endsAt = performance.now() + READY_TIMEOUT_MS;
  for (let problems = await core.health(); problems.length > 0; problems = await core.health()) {
    if (performance.now() > endsAt) {
      await core.close();
      throw new Error(`the gateway did not become ready: ${problems.join('; ')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
  return {
    submit: ({ requestId, userId, body, permit, deviceId }) => core.submit({ activityId, skuId, requestId, userId, body, permit: permit ?? undefined, deviceId }),
    query: (requestId, userId) => core.query({ activityId, skuId, requestId, userId }),
    metricsText: () => core.metricsText(),
    close: () => core.close(),
  };
}

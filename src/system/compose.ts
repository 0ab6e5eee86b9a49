/**
 * From a configuration to a running role: the one place where ports, scripts and statements meet. Both entries (`main.ts` here and the lab's)
 * start roles by this function alone.
 */
import type { RoleConfig } from '../domain/role-config.js';
import type { RoleName } from '../domain/roles.js';
import { composeCloser } from './compose/closer.js';
import { composeCompensator } from './compose/compensator.js';
import { composeConsumer } from './compose/consumer.js';
import { composeGateway } from './compose/gateway.js';
import { composePayment } from './compose/payment.js';
import { createPortMaker, type PortMaker, type RoleOverrides } from './compose/ports.js';
import { composeProjector } from './compose/projector.js';
import { composeReconciler } from './compose/reconciler.js';
import { composeRelay } from './compose/relay.js';
import { composeRetention } from './compose/retention.js';
import { composeScanner } from './compose/scanner.js';
import { composeUndertaker } from './compose/undertaker.js';
import { startRoleServer } from './role-server.js';
import type { RunningRole } from './role.js';

export { composeGatewayCore } from './compose/gateway.js';
export type { RoleOverrides, RolePorts } from './compose/ports.js';

type ComposeOne = (config: RoleConfig, make: PortMaker) => Promise<RunningRole>;

/** Partial, since a configuration comes from outside and may name any role. */
const ROLES: Readonly<Partial<Record<RoleName, ComposeOne>>> = {
  gateway: composeGateway,
  consumer: composeConsumer,
  scanner: composeScanner,
  relay: composeRelay,
  projector: composeProjector,
  payment: composePayment,
  closer: composeCloser,
  compensator: composeCompensator,
  undertaker: composeUndertaker,
  reconciler: composeReconciler,
  retention: composeRetention,
};

const STOP_TIMEOUT_MS = 5_000;

function bounded(stop: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | null = null;
  return () => {
    stopping ??= new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, STOP_TIMEOUT_MS);
      stop()
        .then(resolve, reject)
        .finally(() => {
          clearTimeout(timer);
        });
    });
    return stopping;
  };
}

/**
 * Starts the role and its health and metrics endpoint at `config.listen`. Resolves when it runs, which is before it is ready: ask `health`.
 * Rejects when the role is not built, its port cannot be had, or a script or statement is missing; stores that are away are no reason.
 */
export async function composeRole(config: RoleConfig, overrides: RoleOverrides = {}): Promise<RunningRole> {
  const composeOne = ROLES[config.role];
  if (composeOne === undefined) throw new Error(`role not built yet: ${config.role}`);
  const make = createPortMaker(config, overrides);
  const role = await composeOne(config, make);
  // These serve both endpoints beside their API.
  if (config.role === 'gateway' || config.role === 'payment') return { ...role, stop: bounded(() => role.stop()) };
  const server = await startRoleServer(config.listen, { health: () => role.health(), metrics: make.metrics }).catch(async (error: unknown) => {
    await role.stop();
    throw error;
  });
  return {
    health: () => role.health(),
    fatal: role.fatal,
    stop: bounded(async () => {
      await Promise.all([role.stop(), server.close()]);
    }),
  };
}

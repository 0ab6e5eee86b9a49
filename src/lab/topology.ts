/** Which role processes a run has, where each listens and through which proxies it reaches its stores. */
import type { HostPort, RoleConfig } from '../domain/role-config.js';
import { linkName, roleOfInstance, type RoleInstance, type RoleName, type StoreName } from '../domain/roles.js';
import type { LaneDescription, StackDescription } from '../facts/stack-description.js';
import { LabError } from '../facts/lab-error.js';
import type { RunPlan } from './run-plan.js';

/** A store that the role has no link to is reached nowhere: port 0 refuses at once and so shows the mistake. */
function addressThrough(lane: LaneDescription, role: RoleName, store: StoreName): HostPort {
  const link = linkName(role, store);
  return Object.hasOwn(lane.links, link) ? lane.links[link] : { host: '127.0.0.1', port: 0 };
}

/** Shared by the payment roles and the generator, which plays the channel. */
export const CALLBACK_SECRET = 'between the lab and its payment channel';

/** Where the payment channel listens: the last port of the lane, which no role process takes. */
export function channelAddress(lane: LaneDescription): HostPort {
  return { host: '127.0.0.1', port: lane.rolePorts.at(-1) ?? 0 };
}

export function roleConfigs(plan: RunPlan, stack: StackDescription, laneIndex = 0): RoleConfig[] {
  const lane = stack.lanes[laneIndex];
  if (lane === undefined) throw new LabError('STACK_FILE_INVALID', `the stack has no lane ${String(laneIndex)}`, 'start it again with `seckill-lab up`');
  // The last port is the payment channel's.
  if (plan.instances.length >= lane.rolePorts.length) {
    throw new LabError('USAGE', `${String(plan.instances.length)} role processes asked for, the lane has ports for ${String(lane.rolePorts.length - 1)}`, 'ask for fewer --gateways or --consumers');
  }
  return plan.instances.map((instance, index): RoleConfig => {
    const role = roleOfInstance(instance);
    const { user, password } = stack.direct.postgres;
    return {
      role,
      instance,
      namespace: plan.namespace,
      addresses: {
        redis: addressThrough(lane, role, 'redis'),
        kafka: addressThrough(lane, role, 'kafka'),
        postgres: { ...addressThrough(lane, role, 'postgres'), user, password },
      },
      listen: { host: '127.0.0.1', port: lane.rolePorts[index] ?? 0 },
      activityId: plan.load.activityId,
      skuIds: [plan.load.skuId],
      strategies: plan.strategies,
      tuning: plan.load.payers === null ? plan.tuning : { ...plan.tuning, paymentChannel: channelAddress(lane), paymentCallbackSecret: CALLBACK_SECRET },
    };
  });
}

export function addressesOf(configs: readonly RoleConfig[], role: RoleName): HostPort[] {
  return configs.filter((config) => config.role === role).map((config) => config.listen);
}

export function instanceConfig(configs: readonly RoleConfig[], instance: RoleInstance): RoleConfig {
  const config = configs.find((each) => each.instance === instance);
  if (config === undefined) throw new Error(`no role instance ${instance}`);
  return config;
}

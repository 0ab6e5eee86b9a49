/**
 * The roles of the system and the links (role → store) each one uses. The stack makes one proxy per link and one Kafka listener per
 * role, so a fault hits one role only (DESIGN §8).
 */
export const ROLE_NAMES = [
  'gateway', 'consumer', 'scanner', 'relay', 'projector', 'payment', 'closer', 'compensator', 'undertaker', 'reconciler', 'retention',
] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

export const STORE_NAMES = ['redis', 'kafka', 'postgres'] as const;
export type StoreName = (typeof STORE_NAMES)[number];

/** Which stores a role talks to. */
export const ROLE_LINKS: Readonly<Record<RoleName, readonly StoreName[]>> = {
  gateway: ['redis', 'kafka', 'postgres'],
  consumer: ['kafka', 'postgres'],
  scanner: ['redis', 'kafka', 'postgres'],
  relay: ['kafka', 'postgres'],
  projector: ['redis', 'kafka'],
  /** HTTP: start of a payment, the channel's callbacks, cancel by the user. */
  payment: ['postgres'],
  /** Ends unpaid orders when their time is over. */
  closer: ['kafka', 'postgres'],
  /** Works off `compensation_task`. */
  compensator: ['redis', 'postgres'],
  /** Classifies dead letters and ends the reservations that Redis knows. */
  undertaker: ['redis', 'kafka', 'postgres'],
  reconciler: ['redis', 'kafka', 'postgres'],
  retention: ['postgres'],
};

/** `gateway-1`, `consumer-2`, …: one process. */
export type RoleInstance = `${RoleName}-${number}`;

/** `gateway→redis` as written in files and messages: `gateway-redis`. */
export type LinkName = `${RoleName}-${StoreName}`;

export function linkName(role: RoleName, store: StoreName): LinkName {
  return `${role}-${store}`;
}

export function roleOfInstance(instance: RoleInstance): RoleName {
  const role = ROLE_NAMES.find((name) => instance.startsWith(`${name}-`));
  if (role === undefined) throw new Error(`not a role instance: ${instance}`);
  return role;
}

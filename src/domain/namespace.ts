/**
 * Where one run lives inside shared servers: its own database, key prefix and topics (DESIGN §2). One value from the first day, so that
 * hundreds of cases can share a warm stack.
 */
export interface Namespace {
  /** `[a-z0-9]{1,24}`. */
  readonly id: string;
  readonly database: string;
  /** Put before every Redis key, ends with `:`. */
  readonly redisPrefix: string;
  readonly ordersTopic: string;
  readonly eventsTopic: string;
  readonly ordersGroup: string;
  readonly eventsGroup: string;
}

export function namespaceOf(id: string): Namespace {
  if (!/^[a-z0-9]{1,24}$/.test(id)) throw new Error(`a namespace id is 1–24 of a-z0-9, not ${JSON.stringify(id)}`);
  return {
    id,
    database: `seckill_${id}`,
    redisPrefix: `${id}:`,
    ordersTopic: `${id}.orders`,
    eventsTopic: `${id}.events`,
    ordersGroup: `${id}.order-create`,
    eventsGroup: `${id}.projector`,
  };
}

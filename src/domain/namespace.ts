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
  /** "This order's time is over": Outbox rows whose `available_at` is the order's `expire_at`. */
  readonly closesTopic: string;
  /** Messages that could not be worked off, with cause, attempts and origin. */
  readonly deadLettersTopic: string;
  readonly ordersGroup: string;
  readonly eventsGroup: string;
  readonly closesGroup: string;
  readonly deadLettersGroup: string;
}

export function namespaceOf(id: string): Namespace {
  if (!/^[a-z0-9]{1,24}$/.test(id)) throw new Error(`a namespace id is 1–24 of a-z0-9, not ${JSON.stringify(id)}`);
  return {
    id,
    database: `seckill_${id}`,
    redisPrefix: `${id}:`,
    ordersTopic: `${id}.orders`,
    eventsTopic: `${id}.events`,
    closesTopic: `${id}.closes`,
    deadLettersTopic: `${id}.dead-letters`,
    ordersGroup: `${id}.order-create`,
    eventsGroup: `${id}.projector`,
    closesGroup: `${id}.closer`,
    deadLettersGroup: `${id}.undertaker`,
  };
}

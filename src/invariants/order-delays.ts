/** From the reservation in Redis to the commit of the order, one by one. */
import { wallToMonoUs } from '../facts/timeline.js';
import type { Facts } from '../facts/facts.js';
import { commitHistoryOf, orderCommittedAtUs } from './commit-history.js';
import { postgresOf, redisByReservation, topicByReservation } from './indexes.js';
import { reservedAt } from './reserved-at.js';
import { rememberedPerFacts } from './remembered.js';

export interface OrderDelay {
  readonly orderId: string;
  /** Monotonic. */
  readonly reservedUs: number;
  readonly delayUs: number;
}

/** Both times are wall clock: of the gateway that reserved (Redis record, else the message) and of PostgreSQL. `undated`: orders that lack one. Where the gateways'
 * clocks differ by a fault, the shortest time that it can have taken. */
export const reservationToCommit: (facts: Facts) => { readonly delays: readonly OrderDelay[]; readonly undated: number } = rememberedPerFacts((facts) => {
  const history = commitHistoryOf(facts);
  const delays: OrderDelay[] = [];
  let undated = 0;
  for (const order of postgresOf(facts).orders) {
    const record = redisByReservation(facts).get(order.reservationId)?.[0] ?? topicByReservation(facts).get(order.reservationId)?.[0];
    // Without the log only a row that was never changed still carries the time of its first commit.
    const committedAtUs = orderCommittedAtUs(history, order.orderId) ?? (order.status === 10 ? order.committedAtUs : null);
    if (record === undefined || committedAtUs === null) {
      undated += 1;
      continue;
    }
    const reservedAtUs = reservedAt(facts, record.reservedAtMs).latestMs * 1000;
    delays.push({ orderId: order.orderId, reservedUs: wallToMonoUs(facts.run.clock, reservedAtUs), delayUs: committedAtUs - reservedAtUs });
  }
  return { delays, undated };
});

/** What PostgreSQL says about orders, units and work left to do (papers `000` §12.5, `001` §12.2), as gauges. */
import type { RoleConfig } from '../../domain/role-config.js';
import { OrderStatus, OutboxStatus, TokenStatus } from '../../domain/status-codes.js';
import type { RoleMetrics } from '../role-metrics.js';

type Counts = Readonly<Record<string, number>>;

/** A row of `count_business.sql`. */
export interface BusinessCounts {
  readonly orders: Counts;
  readonly tokens: Counts;
  readonly row_total: number;
  readonly row_available: number;
  readonly planned: number;
  readonly restocks: boolean;
  readonly manual: number;
  readonly outbox: Counts;
  readonly outbox_oldest_seconds: number | null;
  readonly compensations_pending: number;
  readonly compensations_dead: number;
  readonly unmatched_payments: number;
  readonly unresolved_payments: number;
}

const HOLDING: readonly number[] = [OrderStatus.CREATED, OrderStatus.PAYING, OrderStatus.PAID, OrderStatus.REFUND_PENDING];
const PAID: readonly number[] = [OrderStatus.PAID, OrderStatus.REFUND_PENDING];
const ENDED: readonly number[] = [OrderStatus.CANCELLED, OrderStatus.CLOSED];

function sumOf(counts: Counts, statuses: readonly number[] = Object.keys(counts).map(Number)): number {
  return statuses.reduce((sum, status) => sum + (counts[String(status)] ?? 0), 0);
}

/**
 * Units that the inventory and the orders disagree about; 0 as long as the books are right, at any moment, since one transaction writes both.
 * `token`: units missing from the table, and units held without an order that holds one. `row`: what is allocated, beyond orders that hold and
 * units withdrawn by cancels of an activity that does not restock.
 */
export function conservationDelta(counts: BusinessCounts, allocator: RoleConfig['strategies']['allocator']): number {
  const held = sumOf(counts.orders, HOLDING);
  if (allocator === 'token') return counts.planned - sumOf(counts.tokens) + sumOf(counts.tokens, [TokenStatus.CLAIMED, TokenStatus.SOLD]) - held;
  const withdrawn = counts.restocks ? 0 : sumOf(counts.orders, ENDED);
  return counts.row_total - counts.row_available - held - withdrawn;
}

/** Names in lower case, as label values: `REFUND_PENDING` → `refund_pending`. */
function named(codes: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(codes).map(([name, code]) => [name.toLowerCase(), code]);
}

/** Binds the gauges; the returned function shows one sample. */
export function businessGauges(metrics: RoleMetrics, config: Pick<RoleConfig, 'strategies'>): (counts: BusinessCounts) => void {
  const { allocator } = config.strategies;
  const created = metrics.gauge('postgres_order_created_count', 'Orders ever made, whatever became of them');
  const claimed = metrics.gauge('postgres_token_claimed_count', 'Units held by unpaid orders');
  const sold = metrics.gauge('postgres_token_sold_count', 'Units of paid orders');
  const delta = metrics.gauge('inventory_conservation_delta', 'Units that inventory and orders disagree about; anything but 0 is an error in the books');
  const pending = metrics.gauge('compensation_pending_count', 'Compensations not yet done');
  const dead = metrics.gauge('compensation_dead_count', 'Compensations given up, left to a human');
  const unmatched = metrics.gauge('payment_unmatched_count', 'Payments that fit no order, left to a human');
  const unresolved = metrics.gauge('payment_unresolved_count', 'Payments whose end the channel has not told after ten questions; it is asked on');
  const manual = metrics.gauge('reservation_manual_required', 'Reservations that wait for a human');
  const oldest = metrics.gauge('outbox_oldest_age', 'Seconds that the most overdue event of the Outbox has waited to be sent');
  const orders = named(OrderStatus).map(([status, code]) => [metrics.gauge('postgres_orders_count', 'Orders by state', { status }), code] as const);
  const units = named(TokenStatus).map(([status, code]) => [metrics.gauge('inventory_token_count', 'Units by state, for the token allocator', { status }), code] as const);
  const outbox = named(OutboxStatus).filter(([, code]) => code !== OutboxStatus.SENT).map(([status, code]) => [metrics.gauge('outbox_event_count', 'Events of the Outbox that are not sent, by state; timers that are not due included', { status }), code] as const);
  return (counts) => {
    created.set(sumOf(counts.orders));
    claimed.set(allocator === 'token' ? sumOf(counts.tokens, [TokenStatus.CLAIMED]) : sumOf(counts.orders, HOLDING) - sumOf(counts.orders, PAID));
    sold.set(allocator === 'token' ? sumOf(counts.tokens, [TokenStatus.SOLD]) : sumOf(counts.orders, PAID));
    delta.set(conservationDelta(counts, allocator));
    pending.set(counts.compensations_pending);
    dead.set(counts.compensations_dead);
    unmatched.set(counts.unmatched_payments);
    unresolved.set(counts.unresolved_payments);
    manual.set(counts.manual);
    oldest.set(Math.max(0, counts.outbox_oldest_seconds ?? 0));
    for (const [gauge, code] of orders) gauge.set(sumOf(counts.orders, [code]));
    for (const [gauge, code] of units) gauge.set(sumOf(counts.tokens, [code]));
    for (const [gauge, code] of outbox) gauge.set(sumOf(counts.outbox, [code]));
  };
}

/** Orders under the lock of their reservations, and what is known of one order. */
import type { OrderId, ReservationId, SkuKey, UserId } from '../../domain/ids.js';
import type { Clock } from '../../domain/clock.js';
import type { UnitFate } from '../../domain/state-table.js';
import type { StepName } from '../../domain/steps.js';
import type { UnitKeeper } from '../ledger/allocators/unit-keeper-port.js';
import type { IdSource } from '../ledger/order-id.js';
import type { Transaction } from '../ledger/transaction.js';
import type { LifeAnswer } from './order-life-port.js';

/** What the transactions of an order's life are given besides the connection. */
export interface LifeParts {
  readonly eventsTopic: string;
  readonly keeper: UnitKeeper;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly paymentQueryAfterMs: number;
  /** Tells the observer, with reservation ids. */
  announce(step: StepName, ids: readonly string[]): Promise<void>;
}

export interface LockedOrder {
  readonly orderId: OrderId;
  readonly reservationId: ReservationId;
  readonly requestId: string;
  readonly sku: SkuKey;
  readonly userId: UserId;
  /** Where its unit goes when it ends. */
  readonly fate: UnitFate;
  /** After its end the user may buy again. */
  readonly rebuy: boolean;
}

interface LockRow {
  readonly reservation_id: string;
  readonly order_id: string;
  readonly request_id: string;
  readonly activity_id: string;
  readonly sku_id: string;
  readonly user_id: string;
  readonly restock: boolean;
  readonly rebuy: boolean;
}

/** Locks what of these orders exists; by order id. */
export async function lockOrders(transaction: Transaction, orderIds: readonly OrderId[]): Promise<ReadonlyMap<OrderId, LockedOrder>> {
  const { rows } = await transaction.run<LockRow>('lock_reservations_of_orders', [orderIds]);
  const [first] = rows;
  if (first !== undefined) {
    transaction.note({
      orders: rows.length, orderId: first.order_id, reservationId: first.reservation_id, requestId: first.request_id, activityId: first.activity_id, skuId: first.sku_id, userId: first.user_id,
    });
  }
  return new Map(rows.map((row) => [row.order_id, {
    orderId: row.order_id,
    reservationId: row.reservation_id,
    requestId: row.request_id,
    sku: { activityId: row.activity_id, skuId: row.sku_id },
    userId: row.user_id,
    fate: row.restock ? 'restocked' : 'withdrawn',
    rebuy: row.rebuy,
  }]));
}

export interface OrderView {
  readonly orderId: OrderId;
  readonly userId: UserId;
  readonly status: number;
  readonly amount: string;
  readonly currency: string;
  readonly cancelReason: string | null;
  /** Its time is over by PostgreSQL's clock. */
  readonly expired: boolean;
}

interface OrderRow {
  readonly order_id: string;
  readonly user_id: string;
  readonly status: number;
  readonly total_amount: string;
  readonly currency: string;
  readonly cancel_reason: string | null;
  readonly expired: boolean;
}

export async function loadOrder(transaction: Transaction, orderId: OrderId): Promise<OrderView | null> {
  const row = (await transaction.run<OrderRow>('load_order', [orderId])).rows[0];
  if (row === undefined) return null;
  return {
    orderId: row.order_id, userId: row.user_id, status: row.status, amount: row.total_amount, currency: row.currency,
    cancelReason: row.cancel_reason, expired: row.expired,
  };
}

/** For the log: the unit of the first order that this transaction has moved. */
export function noteUnit(transaction: Transaction, [first]: readonly MovedOrder[]): void {
  if (first === undefined) return;
  const { order_id: orderId, reservation_id: reservationId, source_message_id: messageId, inventory_bucket: inventoryBucket, inventory_token_id: inventoryTokenId } = first;
  transaction.note({ orderId, reservationId, messageId, inventoryBucket, inventoryTokenId });
}

/** The row of an order that a conditional statement has just moved. */
export interface MovedOrder {
  readonly order_id: string;
  readonly reservation_id: string;
  readonly source_message_id: string;
  readonly inventory_bucket: number;
  readonly inventory_token_id: string | null;
}

const BLANK: LifeAnswer = { code: 'NOT_FOUND', orderId: null, paymentId: null, orderStatus: null, amount: null, currency: null, reason: null, repeated: false };

export function lifeAnswer(fields: Partial<LifeAnswer> & Pick<LifeAnswer, 'code'>): LifeAnswer {
  return { ...BLANK, ...fields };
}

/** The order as its user may see it, or why he may not. */
export async function orderOfUser(transaction: Transaction, orderId: OrderId, userId: UserId): Promise<{ readonly order: OrderView } | { readonly answer: LifeAnswer }> {
  const order = await loadOrder(transaction, orderId);
  if (order === null) return { answer: lifeAnswer({ code: 'NOT_FOUND' }) };
  return order.userId === userId ? { order } : { answer: lifeAnswer({ code: 'FORBIDDEN' }) };
}

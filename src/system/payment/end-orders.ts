/** Unpaid orders end: when their time is over, or when their user cancels. Whoever moves the order's row first decides (paper 001 §7.6). */
import type { OrderId, UserId } from '../../domain/ids.js';
import { LedgerReason } from '../../domain/reason-codes.js';
import { OrderStatus } from '../../domain/status-codes.js';
import type { Transaction } from '../ledger/transaction.js';
import { lifeAnswer, lockOrders, orderOfUser, type LifeParts, type MovedOrder, type OrderView } from './locked-order.js';
import type { ClosedOrder, LifeAnswer } from './order-life-port.js';
import { releaseOrders } from './release-orders.js';

/** Closes those of the orders whose time is over by the durable `expire_at` and PostgreSQL's clock; the others are not touched. */
export async function expireOrders(transaction: Transaction, orderIds: readonly OrderId[], parts: LifeParts): Promise<readonly ClosedOrder[]> {
  const locked = await lockOrders(transaction, orderIds);
  const { rows } = await transaction.run<MovedOrder>('expire_orders', [[...locked.keys()]]);
  const ids = rows.map((row) => row.reservation_id);
  if (ids.length > 0) await parts.announce('closer.after-close', ids);
  await releaseOrders(transaction, locked, rows, { ...parts, reason: LedgerReason.PAY_TIMEOUT });
  if (ids.length > 0) {
    await parts.announce('closer.after-release', ids);
    await parts.announce('closer.before-commit', ids);
  }
  return rows.map((row) => ({ orderId: row.order_id, reservationId: row.reservation_id }));
}

export async function cancelOrder(transaction: Transaction, orderId: OrderId, userId: UserId, parts: LifeParts): Promise<LifeAnswer> {
  const locked = await lockOrders(transaction, [orderId]);
  const found = await orderOfUser(transaction, orderId, userId);
  if ('answer' in found) return found.answer;
  const { rows } = await transaction.run<MovedOrder>('cancel_order', [orderId, userId]);
  if (rows.length === 0) return refusal(found.order);
  await releaseOrders(transaction, locked, rows, { ...parts, reason: LedgerReason.USER_CANCELLED });
  await parts.announce('payment.before-commit', rows.map((row) => row.reservation_id));
  return lifeAnswer({ code: 'CANCELLED', orderId, orderStatus: OrderStatus.CANCELLED, reason: LedgerReason.USER_CANCELLED });
}

/** No row was moved, so the order is what it was when it was looked at under the lock. */
function refusal({ orderId, status, cancelReason }: OrderView): LifeAnswer {
  if (status === OrderStatus.CANCELLED) return lifeAnswer({ code: 'CANCELLED', orderId, orderStatus: status, reason: cancelReason, repeated: true });
  return lifeAnswer({ code: status === OrderStatus.PAID ? 'ORDER_PAID' : 'ORDER_ENDED', orderId, orderStatus: status });
}

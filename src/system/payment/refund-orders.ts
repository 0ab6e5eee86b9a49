/** Money goes back: a user asks for it, or it came when the order had ended. The unit is held until the channel has confirmed. */
import { v7 as uuidv7 } from 'uuid';

import type { OrderId, UserId } from '../../domain/ids.js';
import { LedgerReason } from '../../domain/reason-codes.js';
import { CompensationType, OrderStatus } from '../../domain/status-codes.js';
import { LedgerAnomaly } from '../ledger/postgres-failure.js';
import type { Transaction } from '../ledger/transaction.js';
import { lifeAnswer, lockOrders, orderOfUser, type LifeParts, type MovedOrder } from './locked-order.js';
import type { LifeAnswer } from './order-life-port.js';
import { releaseOrders } from './release-orders.js';

/** What a task of type REFUND carries. */
export interface RefundTask {
  readonly paymentId: string;
  /** The order waits for this refund; false for money that came too late or twice. */
  readonly closesOrder: boolean;
}

/** One task per payment, however often it is asked for. */
export async function askForRefund(transaction: Transaction, orderId: OrderId, reservationId: string | null, task: RefundTask): Promise<void> {
  await transaction.run('insert_compensation', [uuidv7(), `REFUND:${task.paymentId}`, CompensationType.REFUND, reservationId, orderId, JSON.stringify(task)]);
}

export async function requestRefund(transaction: Transaction, orderId: OrderId, userId: UserId, parts: LifeParts): Promise<LifeAnswer> {
  const locked = await lockOrders(transaction, [orderId]);
  const found = await orderOfUser(transaction, orderId, userId);
  if ('answer' in found) return found.answer;
  const { status } = found.order;
  if (status === OrderStatus.REFUND_PENDING) return lifeAnswer({ code: 'REFUND_PENDING', orderId, orderStatus: status, repeated: true });
  if (status === OrderStatus.CLOSED) return lifeAnswer({ code: 'REFUNDED', orderId, orderStatus: status, repeated: true });
  if ((await transaction.run('request_order_refund', [orderId, userId])).count === 0) return lifeAnswer({ code: 'NOT_PAID', orderId, orderStatus: status });
  const reservationId = locked.get(orderId)?.reservationId ?? null;
  const held = await transaction.run('hold_reservation_for_refund', [reservationId]);
  const { rows } = await transaction.run<{ payment_id: string }>('request_payment_refund', [orderId]);
  const [payment] = rows;
  if (held.count !== 1 || rows.length !== 1 || payment === undefined) throw new LedgerAnomaly(`paid order ${orderId} has ${String(rows.length)} payments and ${String(held.count)} held reservations`);
  await askForRefund(transaction, orderId, reservationId, { paymentId: payment.payment_id, closesOrder: true });
  await parts.announce('payment.after-record', [String(reservationId)]);
  await parts.announce('payment.before-commit', [String(reservationId)]);
  return lifeAnswer({ code: 'REFUND_PENDING', orderId, paymentId: payment.payment_id, orderStatus: OrderStatus.REFUND_PENDING });
}

/** REFUND_PENDING → REFUNDED, and where the order waits for it, → CLOSED with the restock rule. A repeat does nothing. */
export async function completeRefund(transaction: Transaction, paymentId: string, closesOrder: boolean, parts: LifeParts): Promise<null> {
  const payment = (await transaction.run<{ order_id: string }>('load_payment', [paymentId])).rows[0];
  if (payment === undefined) throw new LedgerAnomaly(`payment ${paymentId} is refunded and does not exist`);
  const locked = await lockOrders(transaction, [payment.order_id]);
  if ((await transaction.run('refund_payment', [paymentId])).count === 0 || !closesOrder) return null;
  const { rows } = await transaction.run<MovedOrder>('close_refunded_order', [payment.order_id]);
  if (rows.length !== 1) throw new LedgerAnomaly(`order ${payment.order_id} was not waiting for the refund of payment ${paymentId}`);
  await releaseOrders(transaction, locked, rows, { ...parts, reason: LedgerReason.REFUNDED });
  return null;
}

/** A user starts to pay: the order becomes PAYING and gets a payment that the channel can be told of. */
import { v7 as uuidv7 } from 'uuid';

import type { OrderId, UserId } from '../../domain/ids.js';
import { OrderStatus, PaymentStatus } from '../../domain/status-codes.js';
import { LedgerAnomaly } from '../ledger/postgres-failure.js';
import type { Transaction } from '../ledger/transaction.js';
import { lifeAnswer, lockOrders, orderOfUser, type LifeParts, type OrderView } from './locked-order.js';
import type { LifeAnswer } from './order-life-port.js';

export interface PaymentRow {
  readonly payment_id: string;
  readonly provider: string;
  readonly provider_trade_no: string | null;
  readonly status: number;
}

/** Its end is not known yet. */
export function isOpen(payment: Pick<PaymentRow, 'status'>): boolean {
  return payment.status === PaymentStatus.CREATED || payment.status === PaymentStatus.UNKNOWN;
}

/** A payment without a trade so far; rejects when the order has an open one at this channel, which the caller has looked for under the lock. */
export async function insertPayment(transaction: Transaction, order: OrderView, provider: string, parts: LifeParts): Promise<string> {
  const paymentId = uuidv7();
  const made = await transaction.run('insert_payment', [paymentId, uuidv7(), order.orderId, provider, order.amount, order.currency, parts.paymentQueryAfterMs]);
  if (made.count !== 1) throw new LedgerAnomaly(`order ${order.orderId} has an open payment that was not found`);
  return paymentId;
}

export async function startPaying(transaction: Transaction, orderId: OrderId, userId: UserId, provider: string, parts: LifeParts): Promise<LifeAnswer> {
  const locked = await lockOrders(transaction, [orderId]);
  const found = await orderOfUser(transaction, orderId, userId);
  if ('answer' in found) return found.answer;
  const { order } = found;
  if (order.status === OrderStatus.PAID) return lifeAnswer({ code: 'ORDER_PAID', orderId, orderStatus: order.status });
  const payable = order.status === OrderStatus.CREATED || order.status === OrderStatus.PAYING;
  const ended = lifeAnswer({ code: 'ORDER_ENDED', orderId, orderStatus: order.status, reason: order.cancelReason });
  if (!payable || order.expired) return ended;
  if (order.status === OrderStatus.CREATED && (await transaction.run('start_paying_order', [orderId, userId])).count === 0) return ended;
  const { rows } = await transaction.run<PaymentRow>('find_payments_of_order', [orderId]);
  const open = rows.find((payment) => payment.provider === provider && isOpen(payment));
  const paymentId = open?.payment_id ?? (await insertPayment(transaction, order, provider, parts));
  const ids = [...locked.values()].map((one) => one.reservationId);
  await parts.announce('payment.after-record', ids);
  await parts.announce('payment.before-commit', ids);
  return lifeAnswer({ code: 'PAYING', orderId, paymentId, orderStatus: OrderStatus.PAYING, amount: order.amount, currency: order.currency, repeated: open !== undefined });
}

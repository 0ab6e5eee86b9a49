/**
 * One callback of a channel, in one transaction: kept as it came, deduplicated by callback id and by trade number, decided under the lock of the
 * order's reservation (paper 001 §9.9). What the channel says is evidence; money that fits nothing is never PAID and never lost.
 */
import { v7 as uuidv7 } from 'uuid';

import { isPositiveInt8 } from '../../domain/ids.js';
import type { PaymentCallback, PaymentCode } from '../../domain/payment-contract.js';
import { PaymentStatus } from '../../domain/status-codes.js';
import type { Transaction } from '../ledger/transaction.js';
import { lifeAnswer, loadOrder, lockOrders, type LifeParts, type LockedOrder, type OrderView } from './locked-order.js';
import type { LifeAnswer } from './order-life-port.js';
import { takeMoney } from './pay-order.js';
import { insertPayment, isOpen, type PaymentRow } from './start-paying.js';

export async function takeCallback(transaction: Transaction, callback: PaymentCallback, parts: LifeParts): Promise<LifeAnswer> {
  const { provider, callbackId, tradeNo, orderId, amount, currency, status } = callback;
  const kept = await transaction.run('insert_payment_callback', [provider, callbackId, tradeNo, orderId, amount, currency, status]);
  if (kept.count === 0) return answerOfRepeat(transaction, callback);
  const locked = isPositiveInt8(orderId) ? (await lockOrders(transaction, [orderId])).get(orderId) : undefined;
  const answer = locked === undefined ? await ofUnknownOrder(transaction, callback) : await decide(transaction, locked, callback, parts);
  await transaction.run('set_payment_callback_result', [provider, callbackId, answer.code, answer.reason, answer.paymentId]);
  await parts.announce('payment.before-commit', [locked?.reservationId ?? callbackId]);
  return answer;
}

interface EarlierCallback {
  readonly provider_trade_no: string;
  readonly claimed_order_id: string;
  readonly amount: string;
  readonly currency: string;
  readonly told_status: string;
  readonly result: string;
  readonly reason: string | null;
  readonly payment_id: string | null;
}

/** The same event again gets the same answer; another event under its id contradicts it. */
async function answerOfRepeat(transaction: Transaction, callback: PaymentCallback): Promise<LifeAnswer> {
  const earlier = (await transaction.run<EarlierCallback>('find_payment_callback', [callback.provider, callback.callbackId])).rows[0];
  const isSame = earlier?.provider_trade_no === callback.tradeNo && earlier.claimed_order_id === callback.orderId
    && earlier.amount === String(callback.amount) && earlier.currency === callback.currency && earlier.told_status === callback.status;
  if (!isSame) return lifeAnswer({ code: 'CONTRADICTION', orderId: callback.orderId, reason: 'CALLBACK_ID_REUSED' });
  return lifeAnswer({ code: earlier.result as PaymentCode, orderId: callback.orderId, paymentId: earlier.payment_id, reason: earlier.reason, repeated: true });
}

/** Only money is kept apart; a failed or open trade of nothing is nothing. */
async function unmatched(transaction: Transaction, callback: PaymentCallback, reason: string, orderStatus: number | null = null): Promise<LifeAnswer> {
  const { provider, tradeNo, orderId, amount, currency, status } = callback;
  if (status === 'SUCCEEDED') {
    await transaction.run('insert_unmatched_payment', [uuidv7(), provider, tradeNo, orderId, amount, currency, reason, JSON.stringify(callback)]);
  }
  return lifeAnswer({ code: 'UNMATCHED', orderId, orderStatus, reason });
}

/** A trade that stands as the payment of an order is not kept as money a second time, whatever order is told now. */
async function ofUnknownOrder(transaction: Transaction, callback: PaymentCallback): Promise<LifeAnswer> {
  const owner = await transaction.run('find_payment_by_trade', [callback.provider, callback.tradeNo]);
  return unmatched(transaction, callback, owner.count > 0 ? 'TRADE_OF_ANOTHER_ORDER' : 'UNKNOWN_ORDER');
}

async function decide(transaction: Transaction, locked: LockedOrder, callback: PaymentCallback, parts: LifeParts): Promise<LifeAnswer> {
  const { provider, tradeNo, orderId } = callback;
  const order = await loadOrder(transaction, orderId);
  if (order === null) return ofUnknownOrder(transaction, callback);
  const owner = (await transaction.run<{ order_id: string }>('find_payment_by_trade', [provider, tradeNo])).rows[0];
  if (owner !== undefined && owner.order_id !== orderId) return unmatched(transaction, callback, 'TRADE_OF_ANOTHER_ORDER', order.status);
  const { rows } = await transaction.run<PaymentRow>('find_payments_of_order', [orderId]);
  const payment = paymentOf(rows, callback);
  const about = { orderId, paymentId: payment?.payment_id ?? null, orderStatus: order.status };
  switch (callback.status) {
    case 'PENDING':
      if (payment !== undefined && isOpen(payment)) await transaction.run('mark_payment_unknown', [payment.payment_id]);
      return payment === undefined || isOpen(payment) ? lifeAnswer({ code: 'UNKNOWN', ...about }) : lifeAnswer({ code: codeOf(payment), ...about, repeated: true });
    case 'FAILED':
      if (payment !== undefined && isOpen(payment)) await transaction.run('fail_payment', [payment.payment_id, tradeNo, callback.callbackId]);
      return payment === undefined || isOpen(payment) || payment.status === PaymentStatus.FAILED
        ? lifeAnswer({ code: 'FAILED', ...about, repeated: payment?.status === PaymentStatus.FAILED })
        : lifeAnswer({ code: 'CONTRADICTION', ...about, reason: 'FAILED_AFTER_SUCCESS' });
    case 'SUCCEEDED':
      return takeSuccess(transaction, { locked, order, payment }, callback, parts);
  }
}

interface Found {
  readonly locked: LockedOrder;
  readonly order: OrderView;
  readonly payment: PaymentRow | undefined;
}

async function takeSuccess(transaction: Transaction, { locked, order, payment }: Found, callback: PaymentCallback, parts: LifeParts): Promise<LifeAnswer> {
  const { provider, tradeNo, orderId, amount, currency } = callback;
  const told = await transaction.run('find_contradicting_callback', [provider, tradeNo, orderId, amount, currency]);
  if (told.count > 0) return lifeAnswer({ code: 'CONTRADICTION', orderId, paymentId: payment?.payment_id ?? null, orderStatus: order.status, reason: 'TRADE_TOLD_DIFFERENTLY' });
  if (String(amount) !== order.amount) return unmatched(transaction, callback, 'AMOUNT_MISMATCH', order.status);
  if (currency !== order.currency) return unmatched(transaction, callback, 'CURRENCY_MISMATCH', order.status);
  if (payment !== undefined && !isOpen(payment) && payment.status !== PaymentStatus.FAILED) {
    return lifeAnswer({ code: codeOf(payment), orderId, paymentId: payment.payment_id, orderStatus: order.status, repeated: true });
  }
  const paymentId = payment?.payment_id ?? (await insertPayment(transaction, order, provider, parts));
  return takeMoney(transaction, locked, order, paymentId, callback, parts);
}

/** The payment that has this trade; else the one that the channel names, or the open one, if no other trade has it. */
function paymentOf(payments: readonly PaymentRow[], { provider, tradeNo, paymentId }: PaymentCallback): PaymentRow | undefined {
  const ofChannel = payments.filter((payment) => payment.provider === provider);
  return ofChannel.find((payment) => payment.provider_trade_no === tradeNo)
    ?? ofChannel.find((payment) => payment.provider_trade_no === null && (paymentId == null || payment.payment_id === paymentId) && isOpen(payment))
    ?? ofChannel.find((payment) => payment.provider_trade_no === null && isOpen(payment));
}

function codeOf(payment: PaymentRow): PaymentCode {
  switch (payment.status) {
    case PaymentStatus.SUCCEEDED:
      return 'PAID';
    case PaymentStatus.REFUND_PENDING:
      return 'REFUND_PENDING';
    case PaymentStatus.REFUNDED:
      return 'REFUNDED';
    case PaymentStatus.FAILED:
      return 'FAILED';
    default:
      return 'UNKNOWN';
  }
}

/** The money of a trade has come: it pays the order, or it goes back. */
import { v7 as uuidv7 } from 'uuid';

import type { OrderEvent } from '../../domain/order-event.js';
import type { PaymentCallback } from '../../domain/payment-contract.js';
import { EventType } from '../../domain/reason-codes.js';
import { OrderStatus } from '../../domain/status-codes.js';
import { LedgerAnomaly } from '../ledger/postgres-failure.js';
import { insertEvents } from '../ledger/stage-outcome.js';
import type { Transaction } from '../ledger/transaction.js';
import { lifeAnswer, noteUnit, type LifeParts, type LockedOrder, type MovedOrder, type OrderView } from './locked-order.js';
import type { LifeAnswer } from './order-life-port.js';
import { askForRefund } from './refund-orders.js';

/**
 * PAID if and only if the order was CREATED or PAYING; the conditional update decides. An order that has ended, or that another trade has paid,
 * stays as it is, and the money is turned back.
 */
export async function takeMoney(transaction: Transaction, locked: LockedOrder, order: OrderView, paymentId: string, callback: PaymentCallback, parts: LifeParts): Promise<LifeAnswer> {
  const { orderId, reservationId } = locked;
  const paid = (await transaction.run<MovedOrder>('pay_order', [orderId])).rows[0];
  const recorded = await transaction.run(paid === undefined ? 'turn_payment_back' : 'settle_payment', [paymentId, callback.tradeNo, callback.callbackId]);
  if (recorded.count !== 1) throw new LedgerAnomaly(`payment ${paymentId} was open and could not be recorded`);
  await parts.announce('payment.after-record', [reservationId]);
  if (paid === undefined) {
    await askForRefund(transaction, orderId, reservationId, { paymentId, closesOrder: false });
    return lifeAnswer({ code: 'REFUND_PENDING', orderId, paymentId, orderStatus: order.status, reason: order.cancelReason });
  }
  await sell(transaction, locked, paid, parts);
  return lifeAnswer({ code: 'PAID', orderId, paymentId, orderStatus: OrderStatus.PAID });
}

async function sell(transaction: Transaction, locked: LockedOrder, paid: MovedOrder, parts: LifeParts): Promise<void> {
  noteUnit(transaction, [paid]);
  const { orderId, reservationId, sku, userId } = locked;
  const advanced = (await transaction.run<{ version: string }>('advance_reservation', [reservationId])).rows[0];
  if (advanced === undefined) throw new LedgerAnomaly(`order ${orderId} was paid while its reservation ${reservationId} held no unit`);
  await parts.keeper.sell(transaction, sku, [{ reservationId, orderId, bucketNo: paid.inventory_bucket, tokenId: paid.inventory_token_id }]);
  const entry = await transaction.run('insert_ledger_sale', [
    parts.ids.next(), reservationId, orderId, paid.source_message_id, sku.activityId, sku.skuId, userId, paid.inventory_bucket, paid.inventory_token_id,
  ]);
  if (entry.count !== 1) throw new LedgerAnomaly(`order ${orderId} was sold before`);
  const event: OrderEvent = {
    schemaVersion: 1, eventId: uuidv7(), type: EventType.ORDER_PAID, aggregateId: reservationId, aggregateVersion: Number(advanced.version), reservationId,
    requestId: locked.requestId, activityId: sku.activityId, skuId: sku.skuId, userId, orderId, reason: null, returnsUnit: false, clearsUserMark: false,
  };
  await insertEvents(transaction, parts.eventsTopic, [event]);
}

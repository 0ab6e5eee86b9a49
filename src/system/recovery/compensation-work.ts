/**
 * What each type of compensation task does (paper 000 §9.4, 001 §8.2). A task says what to look at, never what the truth is: that is read from
 * PostgreSQL when the task runs, so that a task that is old, doubled or wrong can do no harm.
 */
import { isPositiveInt8 } from '../../domain/ids.js';
import { CompensationType, PaymentStatus, RedisRecordState, ReservationStatus } from '../../domain/status-codes.js';
import type { PaymentChannel } from '../payment/payment-channel-port.js';
import type { OrderLife } from '../payment/order-life-port.js';
import type { StockPort } from '../stock/stock-port.js';
import type { CompensationStore, CompensationTask, DurableEnd, TaskEnd } from './compensation-store.js';

export interface CompensationTools {
  readonly store: CompensationStore;
  readonly stock: Pick<StockPort, 'project'>;
  readonly life: OrderLife;
  readonly channel: PaymentChannel | null;
}

/** One try of one task. Rejects when PostgreSQL does not answer. */
export async function workOff(task: CompensationTask, tools: CompensationTools): Promise<TaskEnd> {
  switch (task.type) {
    case CompensationType.REFUND:
      return refund(task, tools);
    case CompensationType.RELEASE_REDIS:
    case CompensationType.REBUILD_PROJECTION:
      return project(task, tools);
    case CompensationType.RESEND_MESSAGE:
      return watchArrival(task, tools);
    default:
      return { end: 'again', reason: `no work is known for type ${String(task.type)}` };
  }
}

const STATE_IN_REDIS: Readonly<Record<number, RedisRecordState>> = {
  [ReservationStatus.ORDERED]: RedisRecordState.ORDERED,
  [ReservationStatus.RELEASE_PENDING]: RedisRecordState.ORDERED,
  [ReservationStatus.REJECTED]: RedisRecordState.REJECTED,
  [ReservationStatus.RELEASED]: RedisRecordState.RELEASED,
  [ReservationStatus.EXPIRED]: RedisRecordState.RELEASED,
};

function hasEnded({ status }: DurableEnd): boolean {
  return status === ReservationStatus.REJECTED || status === ReservationStatus.RELEASED || status === ReservationStatus.EXPIRED;
}

/**
 * Writes the durable state into Redis by the projector's own script, under the reservation's version: a unit goes back once per reservation
 * id, whether by its event, by this task, or by both any number of times.
 */
async function project(task: CompensationTask, { store, stock }: CompensationTools): Promise<TaskEnd> {
  const { reservationId } = task;
  if (reservationId === null) return { end: 'cancelled', note: 'the task names no reservation' };
  const durable = await store.durableEnd(reservationId);
  // Nothing may be released that PostgreSQL has never seen; its message may still be on its way.
  if (durable === null) return { end: 'again', reason: 'PostgreSQL does not know the reservation' };
  const state = STATE_IN_REDIS[durable.status];
  if (task.type === CompensationType.RELEASE_REDIS && !hasEnded(durable)) return { end: 'cancelled', note: `the reservation has not ended (status ${String(durable.status)})` };
  if (state === undefined) return { end: 'again', reason: `the reservation has no end yet (status ${String(durable.status)})` };
  const { sku, requestId, userId, orderId, version, reason, returnsUnit, clearsUserMark } = durable;
  const [reply] = await stock.project(sku, [{ requestId, reservationId, userId, state, orderId, reason, version, returnsUnit, clearsUserMark }]);
  if (reply?.outcome !== 'done') return { end: 'again', reason: reply?.reason ?? 'Redis gave no answer' };
  return { end: 'done', note: reply.unitReturned ? 'unit returned' : reply.applied };
}

async function refund(task: CompensationTask, { life, channel }: CompensationTools): Promise<TaskEnd> {
  const { paymentId, closesOrder } = task.payload;
  if (typeof paymentId !== 'string' || typeof closesOrder !== 'boolean') return { end: 'again', reason: 'the task names no payment' };
  const found = await life.loadPayment(paymentId);
  if (found.outcome !== 'done') return { end: 'again', reason: found.reason };
  const payment = found.value;
  if (payment === null) return { end: 'again', reason: `there is no payment ${paymentId}` };
  if (payment.status === PaymentStatus.REFUNDED) return { end: 'done', note: 'refunded before' };
  if (payment.status !== PaymentStatus.REFUND_PENDING) return { end: 'cancelled', note: `the payment is not to be refunded (status ${String(payment.status)})` };
  if (payment.tradeNo === null || !isPositiveInt8(payment.amount)) return { end: 'again', reason: 'the payment has no trade to refund' };
  if (channel === null) return { end: 'again', reason: 'there is no payment channel' };
  const { provider, tradeNo, amount, currency } = payment;
  const answer = await channel.refund({ provider, refundId: paymentId, tradeNo, amount, currency });
  if (answer.outcome !== 'refunded') return { end: 'again', reason: `${answer.outcome}: ${answer.reason}` };
  const completed = await life.completeRefund(paymentId, closesOrder);
  return completed.outcome === 'done' ? { end: 'done', note: null } : { end: 'again', reason: completed.reason };
}

/** The scanner sends lost messages again, under the same message id; this task watches until one has arrived, and is DEAD, seen, if none does. */
async function watchArrival({ reservationId }: CompensationTask, { store }: CompensationTools): Promise<TaskEnd> {
  if (reservationId === null) return { end: 'cancelled', note: 'the task names no reservation' };
  return (await store.durableEnd(reservationId)) === null ? { end: 'again', reason: 'the message has not arrived' } : { end: 'done', note: 'the message has arrived' };
}

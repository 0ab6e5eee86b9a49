// The same random sequences on real PostgreSQL and Redis, compared with the model of the state table after every step.
import fc from 'fast-check';
import type { Pool } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, test } from 'vitest';

import { OrderModel, type ModelRules } from '../../domain/order-model.test-support.js';
import { parseOrderEvent } from '../../domain/order-event.js';
import { brokenAssertions } from '../ledger/assertions.js';
import { endByHand } from '../ledger/end-reservation.js';
import { committed, message } from '../ledger/ledger-case.test-support.js';
import type { OrderLedger, ReservationJudge } from '../ledger/ledger-port.js';
import { createPool } from '../ledger/pool.js';
import { createReservationJudge } from '../ledger/reservation-judge.js';
import { loadStatements } from '../ledger/sql-loader.js';
import { inTransaction } from '../ledger/transaction.js';
import { projectionUpdateOf } from '../outbox/projection-update.js';
import { freshStock, request, SKU, type FreshStock } from '../stock/fresh-stock.test-support.js';
import { answerOf, callbackFor, expectBalanced, openLife, type LifeCase } from './life-case.test-support.js';

const STEPS = [
  'reserve', 'reserve', 'deliver', 'deliver', 'deliver', 'lapse', 'hand-over', 'end-by-hand', 'start-paying', 'pay', 'pay', 'cancel', 'expire', 'request-refund', 'request-refund',
  'complete-refund', 'complete-refund', 'project', 'project',
] as const;
const someStep = fc.record({ what: fc.constantFrom(...STEPS), user: fc.nat(2), purchase: fc.nat(3), trade: fc.nat(1) });
type Step = { readonly what: (typeof STEPS)[number]; readonly user: number; readonly purchase: number; readonly trade: number };

/** What the model calls a purchase, in the stores. */
interface RealPurchase {
  readonly user: string;
  readonly requestId: string;
  readonly reservationId: string;
  readonly messageId: string;
  orderId: string | null;
}

class RealSale {
  readonly purchases: RealPurchase[] = [];
  readonly #case: LifeCase;
  readonly #stock: FreshStock;
  readonly #ledger: OrderLedger;
  readonly #judge: ReservationJudge;
  readonly #pool: Pool;

  constructor(sale: LifeCase, stock: FreshStock) {
    this.#case = sale;
    this.#stock = stock;
    this.#ledger = sale.ledger.ledger();
    this.#judge = createReservationJudge(sale.ledger.configFor({ instance: 'scanner-1' }), sale.ledger.surroundings());
    sale.ledger.closeAtEnd(() => this.#judge.close());
    const { addresses, namespace } = sale.ledger.config;
    this.#pool = createPool({ address: addresses.postgres, database: namespace.database, applicationName: 'operator', max: 1 }, { log: () => undefined });
    sale.ledger.closeAtEnd(() => this.#pool.end());
  }

  async reserve(user: number): Promise<boolean> {
    const userId = String(user + 1);
    const asked = request(`request-${String(this.purchases.length)}-${userId}`, userId);
    const reply = await this.#stock.stock.reserve(SKU, [asked]);
    if (reply.outcome !== 'done') throw new Error(reply.reason);
    if (reply.decisions[0]?.code !== 'RESERVED') return false;
    this.purchases.push({ user: userId, requestId: asked.requestId, reservationId: asked.reservationId, messageId: asked.messageId, orderId: null });
    return true;
  }

  async take({ what, trade }: Step, index: number, model: OrderModel): Promise<void> {
    const { life } = this.#case;
    const purchase = this.#at(index);
    const { orderId, user } = purchase;
    if (what === 'deliver') await this.#deliver(purchase);
    else if (what === 'lapse') await this.#lapse(purchase);
    else if (what === 'hand-over') await this.#handOver(purchase);
    else if (what === 'end-by-hand') await this.#endByHand(purchase);
    else if (what === 'project') await this.#project(purchase, trade);
    else if (orderId === null) return;
    else if (what === 'start-paying') answerOf(await life.startPaying(orderId, user, 'fake'));
    else if (what === 'cancel') answerOf(await life.cancel(orderId, user));
    else if (what === 'request-refund') answerOf(await life.requestRefund(orderId, user));
    else if (what === 'expire') await this.#expire(orderId);
    else if (what === 'pay') {
      const known = model.purchases[index]?.payments.length ?? 0;
      answerOf(await life.takeCallback(callbackFor(orderId, { tradeNo: `trade-${String(index)}-${String(Math.min(trade, known))}` })));
    } else await this.#completeRefund(orderId, index, trade);
  }

  async #deliver(purchase: RealPurchase): Promise<void> {
    const { user: userId, requestId, reservationId } = purchase;
    const [result] = committed(await this.#ledger.createOrders([message({ userId, requestId, reservationId, messageId: uuidv7() })]));
    if (result?.orderId != null) purchase.orderId = result.orderId;
  }

  async #lapse({ user: userId, requestId, reservationId, messageId }: RealPurchase): Promise<void> {
    const { activityId, skuId } = message();
    await this.#judge.closeWithoutOrder({ sku: { activityId, skuId }, reservationId, requestId, messageId, userId, purchaseNo: 1, reservedAtMs: 1, expiresAtMs: 2 });
  }

  async #handOver({ user: userId, requestId, reservationId, messageId }: RealPurchase): Promise<void> {
    const { activityId, skuId } = message();
    await this.#judge.handOver({ sku: { activityId, skuId }, reservationId, requestId, messageId, userId, purchaseNo: 1, reservedAtMs: 1, expiresAtMs: 2 });
  }

  /** As the command of an operator does. */
  async #endByHand({ reservationId }: RealPurchase): Promise<void> {
    const { ledger } = this.#case;
    const end = await inTransaction(this.#pool, loadStatements(), (transaction) => endByHand(transaction, ledger.config.namespace.eventsTopic, reservationId));
    if (end.end !== 'committed') throw end.error;
  }

  async #expire(orderId: string): Promise<void> {
    const { client } = this.#case.ledger;
    await client.query("update orders set expire_at = now() - interval '1 second' where order_id = $1", [orderId]);
    const end = await this.#case.life.closeExpired([orderId]);
    if (end.outcome !== 'done') throw new Error(end.reason);
    // What is not closed has been paid or ended; a step of paying must not meet an order that is over and not closed, which the model has no clock for.
    await client.query("update orders set expire_at = now() + interval '1 hour' where order_id = $1", [orderId]);
  }

  async #completeRefund(orderId: string, index: number, trade: number): Promise<void> {
    const { rows } = await this.#case.ledger.client.query<{ payload: { paymentId: string; closesOrder: boolean } }>(
      `select t.payload from compensation_task t join payment_record p on p.payment_id = (t.payload->>'paymentId')::uuid
        where p.order_id = $1 and p.provider_trade_no = $2`, [orderId, `trade-${String(index)}-${String(trade)}`]);
    for (const { payload } of rows) {
      const end = await this.#case.life.completeRefund(payload.paymentId, payload.closesOrder);
      if (end.outcome !== 'done') throw new Error(end.reason);
    }
  }

  /** Every event so far, forwards or backwards, and then once more. */
  async #project({ reservationId }: RealPurchase, direction: number): Promise<void> {
    const { rows } = await this.#case.ledger.client.query<{ payload: string }>(
      "select payload::text from event_outbox where aggregate_id = $1 and tag <> 'ORDER_CLOSE_DUE' order by aggregate_version", [reservationId]);
    const updates = rows.flatMap(({ payload }) => {
      const parsed = parseOrderEvent(payload);
      if (!parsed.ok) throw new Error(parsed.problems.join());
      return projectionUpdateOf(parsed.event) ?? [];
    });
    if (updates.length === 0) return;
    const replies = await this.#stock.stock.project(SKU, [...(direction === 0 ? updates : updates.toReversed()), ...updates]);
    expect(replies.every(({ outcome }) => outcome === 'done')).toBe(true);
  }

  async compare(model: OrderModel): Promise<void> {
    const { ledger } = this.#case;
    const { rows } = await ledger.client.query<{ id: string; reservation: number; order: number | null; payments: number[] | null }>(
      `select r.reservation_id as id, r.status as reservation, o.status as order,
              (select array_agg(p.status::int order by p.provider_trade_no) from payment_record p where p.order_id = o.order_id and p.provider_trade_no is not null) as payments
         from inventory_reservation r left join orders o on o.order_id = r.order_id`);
    const real = new Map(rows.map((row) => [row.id, row]));
    const states = this.purchases.map(({ reservationId }) => real.get(reservationId)).map((row) => ({ reservation: row?.reservation ?? null, order: row?.order ?? null, payments: row?.payments ?? [] }));
    expect(states).toEqual(model.purchases.map(({ reservation, order, payments }) => ({ reservation, order, payments })));
    expect(Number(await this.#stock.direct.get(this.#stock.keys.stock))).toBe(model.redisStock);
    const marks = await this.#stock.direct.hgetall(this.#stock.keys.users);
    expect(marks).toEqual(Object.fromEntries([...model.marks].map(([user, index]) => [String(user + 1), this.#at(index).requestId])));
    expect(await brokenAssertions(ledger.client)).toEqual([]);
    await expectBalanced(this.#case);
  }

  #at(index: number): RealPurchase {
    const purchase = this.purchases[index];
    if (purchase === undefined) throw new Error(`no purchase ${String(index)}`);
    return purchase;
  }
}

function stepModel(model: OrderModel, { what, trade }: Step, index: number): void {
  if (what === 'deliver') model.deliver(index);
  else if (what === 'lapse') model.lapse(index);
  else if (what === 'hand-over') model.handOver(index);
  else if (what === 'end-by-hand') model.endByHand(index);
  else if (what === 'start-paying') model.startPaying(index);
  else if (what === 'cancel') model.cancel(index);
  else if (what === 'expire') model.expire(index);
  else if (what === 'pay') model.pay(index, trade);
  else if (what === 'request-refund') model.requestRefund(index);
  else if (what === 'complete-refund') model.completeRefund(index, trade);
  else model.project(index);
}

async function run(allocator: 'token' | 'row', rules: ModelRules, steps: readonly Step[]): Promise<void> {
  await using sale = await openLife({ stock: rules.stock, allocator, rules: { restockOnCancel: rules.restockOnCancel, rebuyAfterCancel: rules.rebuyAfterCancel } });
  await using stock = await freshStock(rules.stock);
  const [model, real] = [new OrderModel(rules), new RealSale(sale, stock)];
  for (const step of steps) {
    if (step.what === 'reserve') {
      expect(await real.reserve(step.user)).toBe(model.reserve(step.user) !== null);
    } else if (model.purchases.length > 0) {
      const index = step.purchase % model.purchases.length;
      // The real call first: it looks at how many trades the model has seen.
      await real.take(step, index, model);
      stepModel(model, step, index);
    }
    model.check();
    await real.compare(model);
  }
}

describe.each(['token', 'row'] as const)('allocator %s', (allocator) => {
  test('PostgreSQL and Redis do what the state table says', async () => {
    const rules = fc.record({ stock: fc.integer({ min: 1, max: 3 }), restockOnCancel: fc.boolean(), rebuyAfterCancel: fc.boolean() });
    await fc.assert(fc.asyncProperty(rules, fc.array(someStep, { minLength: 25, maxLength: 40 }), (given, steps) => run(allocator, given, steps)), { numRuns: 10, endOnFailure: true });
  }, 180_000);
});

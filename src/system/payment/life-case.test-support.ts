/** Orders to pay, end and refund on a real PostgreSQL, and the books that must balance after every test. */
import { randomUUID } from 'node:crypto';

import { expect } from 'vitest';

import type { PaymentCallback } from '../../domain/payment-contract.js';
import type { RoleInstance } from '../../domain/roles.js';
import type { StepObserver } from '../../domain/steps.js';
import { committed, message, messages, openCase, type CaseOptions, type LedgerCase } from '../ledger/ledger-case.test-support.js';
import type { LifeAnswer, LifeOutcome, OrderLife } from './order-life-port.js';
import { createOrderLife } from './order-life.js';

export const PRICE = 9_900;

export interface PlacedOrder {
  readonly orderId: string;
  readonly userId: string;
  readonly reservationId: string;
}

export class LifeCase implements AsyncDisposable {
  readonly ledger: LedgerCase;
  readonly life: OrderLife;
  #orderLedger: ReturnType<LedgerCase['ledger']> | null = null;

  constructor(ledger: LedgerCase) {
    this.ledger = ledger;
    this.life = this.anotherLife();
  }

  anotherLife(instance: RoleInstance = 'payment-1', observer?: StepObserver, throughProxy = false): OrderLife {
    const life = createOrderLife(this.ledger.configFor({ instance, throughProxy }), this.ledger.surroundings(observer));
    this.ledger.closeAtEnd(() => life.close());
    return life;
  }

  async order(userId?: string): Promise<PlacedOrder> {
    const [placed] = await this.orders(1, userId);
    if (placed === undefined) throw new Error('no order');
    return placed;
  }

  async orders(count: number, userId?: string): Promise<PlacedOrder[]> {
    this.#orderLedger ??= this.ledger.ledger();
    const asked = userId === undefined ? messages(count) : [message({ userId })];
    const results = committed(await this.#orderLedger.createOrders(asked));
    return asked.map((one, place) => {
      const orderId = results[place]?.orderId;
      if (orderId == null) throw new Error(`no order: ${results[place]?.result ?? ''}`);
      return { orderId, userId: one.userId, reservationId: one.reservationId };
    });
  }

  /** Moves the end of unpaid orders into the past. */
  async timePasses(): Promise<void> {
    await this.ledger.client.query("update orders set expire_at = now() - interval '1 second' where status in (10, 20)");
  }

  status(table: 'orders' | 'inventory_reservation', key: string): Promise<number> {
    return this.ledger.one<{ status: number }>(`select status from ${table} where ${table === 'orders' ? 'order_id' : 'reservation_id'} = $1`, [key]).then((row) => row.status);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.ledger[Symbol.asyncDispose]();
  }
}

export async function openLife(options: CaseOptions): Promise<LifeCase> {
  return new LifeCase(await openCase(options));
}

/** A success of the right amount; every field can be given. */
export function callbackFor(orderId: string, given: Partial<PaymentCallback> = {}): PaymentCallback {
  const tradeNo = given.tradeNo ?? `trade-${randomUUID()}`;
  return { provider: 'fake', callbackId: `callback-${randomUUID()}`, tradeNo, orderId, amount: PRICE, currency: 'CNY', status: 'SUCCEEDED', ...given };
}

/** The answer of a call that must have been done. */
export function answerOf(end: LifeOutcome<LifeAnswer>): LifeAnswer {
  if (end.outcome !== 'done') throw new Error(`${end.outcome}: ${end.reason}`);
  return end.value;
}

export async function codeOf(end: Promise<LifeOutcome<LifeAnswer>>): Promise<string> {
  return answerOf(await end).code;
}

/** Conservation, ledger chains and events, told by SQL that shares nothing with the code under test. */
export async function expectBalanced({ ledger }: LifeCase): Promise<void> {
  const { allocator } = ledger.config.strategies;
  const books = await ledger.one<Record<string, number>>(`select
    (select planned_stock from seckill_sku)::int as stock,
    (select count(*) from inventory_reservation where status in (10, 30))::int as held,
    (select count(*) from inventory_reservation r where status = 40 and not exists (select 1 from inventory_ledger l where l.idempotency_key = 'RELEASE:' || r.reservation_id))::int as withdrawn,
    (select count(*) from inventory_token where status = 0)::int as free_tokens,
    (select count(*) from inventory_token where status in (10, 20))::int as held_tokens,
    (select count(*) from inventory_token where status = 30)::int as withdrawn_tokens,
    (select sum(available_stock) from sku_inventory)::int as available,
    (select sum(allocated_stock) from sku_inventory)::int as allocated,
    (select coalesce(sum(available_delta), 0) from inventory_ledger)::int as moved,
    (select count(*) from orders o join inventory_reservation r using (reservation_id)
      where (o.status in (10, 20, 30)) <> (r.status = 10) or (o.status = 60) <> (r.status = 30) or (o.status in (40, 50)) <> (r.status = 40))::int as contradictions,
    (select count(*) from (select reservation_id from inventory_ledger where ledger_type = 20 group by 1 having count(*) > 1) twice)::int as released_twice`);
  const { stock, held, withdrawn } = books;
  if (stock === undefined || held === undefined || withdrawn === undefined) throw new Error('no books');
  expect(books).toMatchObject(allocator === 'token'
    ? { free_tokens: stock - held - withdrawn, held_tokens: held, withdrawn_tokens: withdrawn }
    : { available: stock - held - withdrawn, allocated: held + withdrawn });
  expect(books).toMatchObject({ moved: 0 - held - withdrawn, contradictions: 0, released_twice: 0 });
}

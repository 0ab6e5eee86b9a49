// The state table driven with random sequences of reserve, deliver, pay, cancel, expire, refund and repeats: the definitions of paper 004 §1 hold after every step.
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { OrderModel } from './order-model.test-support.js';

const rules = fc.record({ stock: fc.integer({ min: 0, max: 4 }), restockOnCancel: fc.boolean(), rebuyAfterCancel: fc.boolean() });
const step = fc.record({
  what: fc.constantFrom('reserve', 'reserve', 'deliver', 'deliver', 'deliver', 'lapse', 'hand-over', 'end-by-hand', 'start-paying', 'pay', 'pay', 'cancel', 'expire', 'request-refund', 'request-refund', 'complete-refund', 'complete-refund', 'project'),
  user: fc.nat(3),
  purchase: fc.nat(3),
  trade: fc.nat(1),
});

function take(model: OrderModel, { what, user, purchase, trade }: { readonly what: string; readonly user: number; readonly purchase: number; readonly trade: number }): void {
  if (what === 'reserve') {
    model.reserve(user);
    return;
  }
  if (model.purchases.length === 0) return;
  const index = purchase % model.purchases.length;
  if (what === 'deliver') model.deliver(index);
  else if (what === 'lapse') model.lapse(index);
  else if (what === 'hand-over') model.handOver(index);
  else if (what === 'end-by-hand') model.endByHand(index);
  else if (what === 'start-paying') model.startPaying(index);
  else if (what === 'pay') model.pay(index, trade);
  else if (what === 'cancel') model.cancel(index);
  else if (what === 'expire') model.expire(index);
  else if (what === 'request-refund') model.requestRefund(index);
  else if (what === 'complete-refund') model.completeRefund(index, trade);
  else model.project(index);
}

test('oversell and conservation after every step', () => {
  const [reached, ends] = [new Set<number | null>(), new Set<number | null>()];
  fc.assert(fc.property(rules, fc.array(step, { minLength: 15, maxLength: 60 }), (given, steps) => {
    const model = new OrderModel(given);
    for (const one of steps) {
      take(model, one);
      model.check();
    }
    for (const { order, reservation } of model.purchases) {
      reached.add(order);
      ends.add(reservation);
    }
  }), { numRuns: 1_000 });
  // Else the property would say nothing.
  expect(reached).toEqual(new Set([null, 10, 20, 30, 40, 50, 60]));
  // Not REJECTED: Redis never lets in whom PostgreSQL would refuse, as long as it loses nothing.
  expect(ends).toEqual(new Set([null, 10, 30, 40, 50, 60]));
}, 60_000);

test('the model can fail: a table that let a paid order be cancelled would be caught', () => {
  const model = new OrderModel({ stock: 1, restockOnCancel: true, rebuyAfterCancel: false });
  const index = model.reserve(1) ?? 0;
  model.deliver(index);
  model.pay(index, 0);
  const [purchase] = model.purchases;
  if (purchase === undefined) throw new Error('one purchase');
  purchase.order = 40;
  expect(() => { model.check(); }).toThrow();
});

test('late money: the order stays cancelled and the trade goes back', () => {
  const model = new OrderModel({ stock: 1, restockOnCancel: true, rebuyAfterCancel: true });
  const index = model.reserve(1) ?? 0;
  model.deliver(index);
  model.expire(index);
  model.pay(index, 0);
  model.completeRefund(index, 0);
  expect(model.purchases[index]).toMatchObject({ order: 40, reservation: 40, unit: 0, payments: [50], ledger: [10, 20] });
  model.project(index);
  model.project(index);
  expect([model.redisStock, model.available, model.reserve(1)]).toEqual([1, 1, 1]);
});

/**
 * check-then-insert-order: "has this user an order?" is a question of its own, and there is no unique key behind it (paper `001` §10.1; CASES C43). Two
 * transactions that ask at the same time both hear no. Redis, which would have kept the second away, has forgotten the user.
 */
import type { Mutant } from './mutant.js';
import { forgetfulReserveScript } from './no-unique-key.js';
import { oneUserTwoConsumers } from './plans/sale.js';
import { wrongStatement } from './wrong-source.js';

export const checkThenInsertOrder: Mutant = {
  name: 'check-then-insert-order',
  description: 'The consumer looks for an order of the user and then inserts one, without a unique key.',
  warnedBy: '001 §10.1 and §16 error 1',
  caughtBy: 'one-order-per-user',
  showsUnder: oneUserTwoConsumers,
  sql: ['ALTER TABLE orders DROP CONSTRAINT uq_orders_user_sku'],
  overrides(config) {
    if (config.role === 'gateway') return { scripts: { reserve_batch: forgetfulReserveScript() } };
    return config.role === 'consumer' ? { statements: { insert_orders: wrongStatement('look_then_insert_orders') } } : {};
  },
};

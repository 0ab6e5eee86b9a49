/**
 * unconditional-pay-and-cancel: an order's state is looked at and then written without a condition (paper `001` §16, error 3; §7.6). Money that comes after the
 * end pays the cancelled order, and the timer cancels the paid one.
 */
import type { Mutant } from './mutant.js';
import { shortLives } from './plans/lives.js';
import { wrongStatement } from './wrong-source.js';

export const unconditionalPayAndCancel: Mutant = {
  name: 'unconditional-pay-and-cancel',
  description: 'Paying and expiring write the state of an order whatever it is by then.',
  warnedBy: '001 §7.6 and §16 error 3',
  caughtBy: 'paid-never-cancelled',
  showsUnder: shortLives,
  sql: [],
  overrides(config) {
    if (config.role === 'payment') return { statements: { pay_order: wrongStatement('pay_any_order'), advance_reservation: wrongStatement('advance_any_reservation') } };
    return config.role === 'closer' ? { statements: { expire_orders: wrongStatement('expire_paid_orders_too') } } : {};
  },
};

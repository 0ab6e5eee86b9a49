/**
 * check-then-act-allocator: a free unit is looked up without a lock and then written without a condition (paper `001` §16, error 2). Two transactions that
 * look at the same time sell the same unit.
 */
import type { Mutant } from './mutant.js';
import { crowdedToken } from './plans/sale.js';
import { wrongStatement } from './wrong-source.js';

export const checkThenActAllocator: Mutant = {
  name: 'check-then-act-allocator',
  description: 'The allocator looks for free tokens and then takes them, without a lock and without a condition.',
  warnedBy: '001 §10.1 and §16 error 2',
  caughtBy: 'no-oversell',
  showsUnder: crowdedToken,
  sql: [],
  overrides: (config) => (config.role === 'consumer' ? { statements: { claim_tokens: wrongStatement('look_then_claim_tokens') } } : {}),
};

/**
 * skip-locked-read: the stock is read with SKIP LOCKED, and an empty answer is taken for "sold out" (paper `001` §16, error 10; CASES C29). A row that
 * somebody holds for a millisecond is no sold-out sale.
 */
import type { Mutant } from './mutant.js';
import { crowdedRow } from './plans/sale.js';
import { wrongStatement } from './wrong-source.js';

export const skipLockedRead: Mutant = {
  name: 'skip-locked-read',
  description: 'The allocator passes over a locked row of stock and calls that sold out.',
  warnedBy: '001 §16 error 10, 000 §9.3',
  caughtBy: 'no-undersell',
  showsUnder: crowdedRow,
  sql: [],
  overrides: (config) =>
    config.role === 'consumer'
      ? { statements: { allocate_row_stock: wrongStatement('allocate_unlocked_row_stock'), lock_row_stock: wrongStatement('look_past_locked_row_stock') } }
      : {},
};

/**
 * ledger-of-the-batch: every entry of a batch is written with the balance that was there before the batch, where each must begin where the one before it ended (paper
 * `001` §9.5). Sums and stock are right, and nobody can tell from the ledger any more what the account was at any moment.
 */
import type { Mutant } from './mutant.js';
import { batchedRow } from './plans/sale.js';
import { wrongStatement } from './wrong-source.js';

export const ledgerOfTheBatch: Mutant = {
  name: 'ledger-of-the-batch',
  description: 'The ledger entries of a batch all begin at the same balance.',
  warnedBy: '001 §9.5',
  caughtBy: 'ledger-balanced',
  showsUnder: batchedRow,
  sql: [],
  overrides: (config) => (config.role === 'consumer' ? { statements: { insert_ledger_allocations: wrongStatement('insert_ledger_of_the_batch') } } : {}),
};

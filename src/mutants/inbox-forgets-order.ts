/**
 * inbox-forgets-order: the Inbox remembers that a message was handled, and not which order came of it (paper `001` §9.1). Nobody is served twice; but whoever has lost the
 * answer to a COMMIT and asks the Inbox hears that there is an order, and of none.
 */
import type { Mutant } from './mutant.js';
import { plainSale } from './plans/sale.js';
import { wrongStatement } from './wrong-source.js';

export const inboxForgetsOrder: Mutant = {
  name: 'inbox-forgets-order',
  description: 'The Inbox does not keep which order came of a message.',
  warnedBy: '001 §9.1 and §7.5',
  caughtBy: 'inbox-once',
  showsUnder: plainSale,
  sql: [],
  overrides: (config) => (config.role === 'consumer' ? { statements: { insert_inbox: wrongStatement('insert_inbox_without_order') } } : {}),
};

/**
 * inbox-off: the consumer writes no Inbox row and takes every message for new.
 *
 * The other keys (reservation, request, user) still stop a second order, which is why people think the Inbox can go (paper `001` §17, question
 * 2): what is lost is the knowledge that a message has been finished, and with it the answer to a COMMIT of unknown outcome. The judge reads
 * just that: a message below the committed offset without its row.
 */
import type { Mutant } from './mutant.js';
import { plainSale } from './plans/sale.js';
import { wrongStatement } from './wrong-source.js';

export const inboxOff: Mutant = {
  name: 'inbox-off',
  description: 'The consumer keeps no Inbox: every message counts as the first of its kind.',
  warnedBy: '001 §9.1 and §17 question 2',
  caughtBy: 'inbox-once',
  showsUnder: plainSale,
  sql: [],
  overrides: (config) => (config.role === 'consumer' ? { statements: { insert_inbox: wrongStatement('take_every_message'), update_inbox_results: wrongStatement('correct_no_message') } } : {}),
};

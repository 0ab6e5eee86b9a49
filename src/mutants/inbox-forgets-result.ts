/**
 * inbox-forgets-result: the Inbox remembers that a message was handled, and not what became of it: every row says that there is an order (paper `001` §9.1). Nobody is
 * served twice; but whoever has lost the answer to a COMMIT and asks the Inbox is told of orders that were refused.
 */
import type { Mutant } from './mutant.js';
import { lateMessages } from './plans/outages.js';
import { wrongStatement } from './wrong-source.js';

export const inboxForgetsResult: Mutant = {
  name: 'inbox-forgets-result',
  description: 'The Inbox does not keep how a message ended: each counts as an order.',
  warnedBy: '001 §9.1 and §7.5',
  caughtBy: 'inbox-once',
  showsUnder: lateMessages,
  sql: [],
  overrides: (config) => (config.role === 'consumer' ? { statements: { update_inbox_results: wrongStatement('correct_no_message') } } : {}),
};

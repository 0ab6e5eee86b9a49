/**
 * inbox-trimmed-early: retention deletes Inbox rows while their messages can still come again (paper `001` §16, error 11): to whom a copy is
 * delivered then, it is the first of its kind.
 */
import type { Mutant } from './mutant.js';
import { retentionAtWork } from './plans/sale.js';
import { wrongStatement } from './wrong-source.js';

export const inboxTrimmedEarly: Mutant = {
  name: 'inbox-trimmed-early',
  description: 'Retention deletes Inbox rows at once, though the topic keeps their messages.',
  warnedBy: '001 §16 error 11',
  caughtBy: 'inbox-once',
  showsUnder: retentionAtWork,
  sql: [],
  overrides: (config) => (config.role === 'retention' ? { statements: { delete_old_inbox: wrongStatement('delete_young_inbox') } } : {}),
};

/**
 * permit-never-over: nobody asks what time it is when a permit is shown (paper `000` §10.1: permits are short-lived). The book of spent ones is kept, and still a permit
 * of yesterday makes an order today.
 */
import type { Mutant } from './mutant.js';
import { permitsShown } from './plans/sale.js';
import { wrongScript } from './wrong-source.js';

export const permitNeverOver: Mutant = {
  name: 'permit-never-over',
  description: 'The time of a permit is not looked at: one that is over is as good as any.',
  warnedBy: '000 §10.1',
  caughtBy: 'no-phantom-order',
  showsUnder: permitsShown,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { scripts: { spend_permits: wrongScript('spend_at_any_time') } } : {}),
};

/**
 * permit-per-gateway: a gateway remembers by itself which permits it has seen, and asks nobody (papers `000` §10.1, `004` §2). The next gateway has not seen them, and lets
 * them in again.
 */
import type { Mutant } from './mutant.js';
import { permitsShown } from './plans/sale.js';
import { wrongScript } from './wrong-source.js';

export const permitPerGateway: Mutant = {
  name: 'permit-per-gateway',
  description: 'Spent permits are remembered by each gateway alone, and by no book that they share.',
  warnedBy: '000 §10.1 and 004 §2',
  caughtBy: 'permit-once',
  showsUnder: permitsShown,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { scripts: { spend_permits: wrongScript('spend_nothing') } } : {}),
};

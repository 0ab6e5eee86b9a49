/** mark-after-decrement: the unit is taken first, and only then the script asks whether the request or the user is known: every repeated click costs a unit (CASES C10). */
import type { Mutant } from './mutant.js';
import { oneUserBurst } from './plans/sale.js';
import { wrongScript } from './wrong-source.js';

export const markAfterDecrement: Mutant = {
  name: 'mark-after-decrement',
  description: 'The reserve script takes the unit before it looks for a duplicate.',
  warnedBy: '000 §10.2',
  caughtBy: 'redis-conservation',
  showsUnder: oneUserBurst,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { scripts: { reserve_batch: wrongScript('decrement_first') } } : {}),
};

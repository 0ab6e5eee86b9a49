/**
 * cut-at-commit: the consumer's connection to PostgreSQL breaks while the answer to COMMIT is on its way: the server has
 * committed, and the consumer does not hear of it (paper `001` §13.4; CASES C27).
 *
 * Claim: nobody guesses: the Inbox says what became of it, and orders, ledger and stock are written exactly once.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const cutAtCommit: Scenario = {
  name: 'cut-at-commit',
  claim: 'A COMMIT whose answer is lost is looked up and not repeated: every order, entry and unit is written exactly once.',
  stock: 5_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 150, durationMs: 12_000 },
  roles: USUAL_ROLES,
  tuning: {},
  faults: ['cut-at-step@step=consumer.before-commit,link=consumer-postgres,stream=downstream,hit=3,every=3,times=5'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
};

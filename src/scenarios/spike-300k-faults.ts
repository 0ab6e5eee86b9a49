/**
 * spike-300k-faults: the storm of spike-300k while produce answers are lost and PostgreSQL goes away for two seconds (paper `000` §13.5).
 *
 * Claim: whatever is lost on the way, every winner has one order in the end and nobody else has any.
 */
import type { Scenario } from './scenario.js';
import { NOT_FAR_BEHIND, SPIKE } from './spike.js';

export const spike300kFaults: Scenario = {
  ...SPIKE,
  name: 'spike-300k-faults',
  claim: 'The storm of spike-300k with lost produce answers and PostgreSQL away for 2 s: every winner has one order in the end, nobody else any.',
  // A produce call carries up to 500 messages and the whole sale some forty of them, so one lost answer is the 1 %. PostgreSQL goes in the middle of the orders, half of
  // which are there after 3.6 s (decision 0025): at 0.6 s, as it was, not one had been made, and at the middle of the storm all of them would be.
  faults: ['lose-produce-ack@t=0s,n=1', 'pg-outage@t=3s,s=2'],
  // What a machine of another speed would make of that: all orders made before PostgreSQL goes, or none, or one message in the call that is lost.
  shows: [{ figure: 'orders-after-outage', atLeast: 2_000, atMost: 9_999 }, { figure: 'messages-unheard', atLeast: 100 }],
  serviceLevels: [
    NOT_FAR_BEHIND,
    { name: 'recovery-time', bound: 30_000 },
    { name: 'drained', bound: 30_000 },
  ],
};

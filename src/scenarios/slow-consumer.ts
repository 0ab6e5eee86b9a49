/**
 * slow-consumer: the way to PostgreSQL gets slow while the storm goes on (paper `004` §5: what counts is the age of the oldest message, not how many there are).
 *
 * Claim: admission narrows and closes before anybody has to wait longer than was promised, and opens again; nothing that was accepted is lost.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, funnelWith, type Scenario } from './scenario.js';

export const slowConsumer: Scenario = {
  name: 'slow-consumer',
  claim: 'When the consumer gets slow, admission closes before the oldest message passes its age bound, and opens again afterwards.',
  stock: 20_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 400, durationMs: 20_000 },
  roles: USUAL_ROLES,
  tuning: { funnel: funnelWith(['admission-limit']) },
  faults: ['slow-consumer@t=4s,s=8,latency=300'],
  settleBoundMs: 60_000,
  invariants: [...SAFETY_INVARIANTS, 'admission-bounded'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
  shows: [{ figure: 'turned-away-by-admission', atLeast: 200 }, { figure: 'turned-away-in-a-row', atLeast: 100 }, { figure: 'let-in-again', atLeast: 100 }],
};

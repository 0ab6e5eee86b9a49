/**
 * What the small runs have in common: a second or two of load, short leases, and every judge that can say something. One run is a whole one, from the
 * empty database to the verdict; small is only what makes it wait.
 */
import { LIFE_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from '../../scenarios/scenario.js';

/** Every judge: the matrix has a cell for each. */
export const ALL_JUDGES = [...LIFE_INVARIANTS, 'fail-closed', 'admission-bounded', 'no-undersell'] as const;

export const SMALL_LOAD = {
  ...USUAL_CLIENTS,
  ratePerSecond: 150,
  durationMs: 1_500,
  requestTimeoutMs: 2_000,
  connections: 64,
  pollIntervalMs: 200,
  pollsMax: 8,
} as const satisfies Partial<Scenario['load']>;

/**
 * No role waits long for anything: a lease of a second, a lost hand-off sent again after 300 ms. Nothing is compiled beforehand, since no latency is promised.
 */
export const SMALL_TUNING = { warmUpRequests: 0, resendAfterMs: 300, scannerIntervalMs: 50, leaseMs: 1_000, consumerSessionTimeoutMs: 2_000, storeFiguresIntervalMs: 0 } as const satisfies Scenario['tuning'];

type Differing = Pick<Scenario, 'name' | 'claim'> & Partial<Omit<Scenario, 'load' | 'tuning'>> & { readonly load?: Partial<Scenario['load']>; readonly tuning?: Scenario['tuning'] };

/** A small run that differs from the usual one in what is given. More is sold out than bought: 225 arrivals for 150 units. */
export function smallRun({ load, tuning, ...rest }: Differing): Scenario {
  return {
    stock: 150,
    roles: USUAL_ROLES,
    faults: [],
    settleBoundMs: 20_000,
    invariants: ALL_JUDGES,
    serviceLevels: [],
    ...rest,
    load: { ...SMALL_LOAD, ...load },
    tuning: { ...SMALL_TUNING, ...tuning },
  };
}

/**
 * The small runs that a sweep strikes: a dozen arrivals, one at a time, one transaction a message, leases and sessions of a second at most. Each reaches other
 * steps; the first in the list that reaches a step is the one it is swept in.
 */
import { DEFAULT_RECONCILER } from '../../domain/reconciler-tuning.js';
import type { RoleTuning } from '../../domain/role-config.js';
import { LIFE_INVARIANTS, LIFE_ROLES, PLAIN_ANSWERS, PLAIN_CHANNEL, SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from '../../scenarios/scenario.js';

export interface SweepBase {
  readonly scenario: Scenario;
  /** How long after all else is drained its steps may still be reached. */
  readonly patienceMs: number;
}

/** Past every lease and session below. */
export const PAUSE_MS = 1_300;
/** Past them, and long enough for the other process to notice, join its group again and do something: a session of a second, a heartbeat, a rebalance. */
export const TAKE_OVER_MS = 3_000;
/** A role may be stopped when nothing is open: what ended the wait then would end the pause in its middle. */
const AFTER_A_PAUSE_MS = PAUSE_MS + 500;

const TUNING: Partial<RoleTuning> = {
  resendAfterMs: 400,
  scannerIntervalMs: 100,
  leaseMs: 500,
  relayIntervalMs: 30,
  consumerSessionTimeoutMs: 1_000,
  warmUpRequests: 0,
  paymentQueryAfterMs: 600,
  closerSweepIntervalMs: 200,
  closerSweepGraceMs: 400,
  storeFiguresIntervalMs: 0,
  reconciler: { ...DEFAULT_RECONCILER, checkIntervalMs: 100, leaseMs: 800, passIntervalMs: 200, graceMs: 800, reopenSteps: 2, reopenStepMs: 50, drainPatienceMs: 3_000 },
};

const ARRIVALS_PER_SECOND = 20;
const STORM_MS = 600;
/** Long enough for those who pay in time on a busy host, where an order is heard of a second late. */
const PAYMENT_WINDOW_MS = 2_500;

/** More buyers than units. */
const SALE: Scenario = {
  name: 'sweep-sale',
  claim: 'A crash at any step of a sale changes nothing but its time.',
  stock: 8,
  load: { ...USUAL_CLIENTS, shape: { kind: 'constant' }, ratePerSecond: ARRIVALS_PER_SECOND, durationMs: STORM_MS, requestTimeoutMs: 3_000, connections: 16, pollIntervalMs: 100, pollsMax: 20 },
  roles: USUAL_ROLES,
  tuning: TUNING,
  faults: [],
  settleBoundMs: 20_000,
  invariants: SAFETY_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 20_000 }],
};

export const SWEEP_BASES: readonly SweepBase[] = [
  { patienceMs: AFTER_A_PAUSE_MS, scenario: SALE },
  // The broker cannot be reached for a moment: what was reserved then is sent by the scanner.
  { patienceMs: AFTER_A_PAUSE_MS, scenario: { ...SALE, name: 'sweep-resend', faults: ['link-toxic@link=gateway-kafka,type=timeout,stream=upstream,t=0,s=1.5'] } },
  {
    // Nothing is open while an unpaid order waits for its time.
    patienceMs: PAYMENT_WINDOW_MS + 500,
    scenario: {
      ...SALE,
      name: 'sweep-life',
      roles: LIFE_ROLES,
      tuning: { ...TUNING, paymentWindowMs: PAYMENT_WINDOW_MS },
      load: {
        ...SALE.load,
        payers: {
          // Nearly half of them never pay: of eight orders some have to run out with any seed, and some have to be paid.
          shares: { inTime: 0.35, late: 0, twice: 0, refund: 0.1, cancel: 0.1 },
          channel: PLAIN_CHANNEL,
          answers: PLAIN_ANSWERS,
          afterMsMin: 50,
          afterMsMax: 300,
          lateAfterMsMin: 0,
          lateAfterMsMax: 0,
          callbackAfterMs: 30,
        },
      },
      invariants: LIFE_INVARIANTS,
    },
  },
  // More units than buyers: the poison makes a reservation of its own, and takes a while to connect.
  { patienceMs: AFTER_A_PAUSE_MS, scenario: { ...SALE, name: 'sweep-poison', stock: 20, roles: { ...USUAL_ROLES, undertaker: 1 }, faults: ['poison-messages@t=100ms,n=4'] } },
  {
    patienceMs: 4_000,
    scenario: { ...SALE, name: 'sweep-reconcile', roles: { ...USUAL_ROLES, reconciler: 1 }, load: { ...SALE.load, mix: { ...SALE.load.mix, repeatShare: 0 } }, faults: ['tamper-redis@kind=all,n=1,t=300ms'] },
  },
  { patienceMs: 3_000, scenario: { ...SALE, name: 'sweep-rebuild', roles: { ...USUAL_ROLES, reconciler: 1 }, faults: ['foreign-redis@t=300ms'] } },
  { patienceMs: AFTER_A_PAUSE_MS, scenario: { ...SALE, name: 'sweep-retention', roles: { ...USUAL_ROLES, retention: 1 }, tuning: { ...TUNING, outboxArchiveAfterMs: 600, retentionIntervalMs: 100 } } },
];

export function baseNamed(name: string): SweepBase {
  const base = SWEEP_BASES.find(({ scenario }) => scenario.name === name);
  if (base === undefined) throw new Error(`no base run ${name}`);
  return base;
}

/** The scenarios that steps name, and the small run that stands for each. */
export const BASE_OF_SCENARIO: Readonly<Record<string, string>> = {
  'hot-sku': 'sweep-sale',
  'kill-after-lua': 'sweep-resend',
  'pay-vs-close': 'sweep-life',
  'expiry-wave': 'sweep-life',
  'poison-messages': 'sweep-poison',
  'reconcile-under-load': 'sweep-reconcile',
  'redis-failover': 'sweep-rebuild',
};

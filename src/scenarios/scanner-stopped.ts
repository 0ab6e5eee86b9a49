/**
 * scanner-stopped: gateways die between Redis and Kafka, and the one who should notice stands still (paper `000` §13.4: 停止扫描器).
 *
 * Claim: the alert on old pending reservations fires, at the projector, since the scanner cannot speak; when the scanner is back everything is sent.
 */
import { SAFETY_INVARIANTS, USUAL_CLIENTS, USUAL_ROLES, type Scenario } from './scenario.js';

export const scannerStopped: Scenario = {
  name: 'scanner-stopped',
  claim: 'While the scanner stands still the alert on old pending reservations fires; when it is back, everything that was left is sent.',
  stock: 5_000,
  load: { ...USUAL_CLIENTS, ratePerSecond: 100, durationMs: 26_000, requestTimeoutMs: 2_000, connections: 256, pollIntervalMs: 2_000 },
  roles: { ...USUAL_ROLES, gateway: 2 },
  tuning: { resendAfterMs: 500, warmUpRequests: 0 },
  faults: ['stop-scanner@t=1s,s=25', 'kill-role@step=gateway.after-reserve,hit=60,every=20,times=4'],
  settleBoundMs: 40_000,
  invariants: [...SAFETY_INVARIANTS, 'no-undersell'],
  serviceLevels: [
    { name: 'recovery-time', bound: 15_000 },
    { name: 'drained', bound: 20_000 },
  ],
};

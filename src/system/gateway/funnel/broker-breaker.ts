/**
 * Stops new reservations while the broker does not confirm messages: what is reserved then only grows the heap that the scanner has to resend. Closed → open
 * after so many sends in a row without confirmation → after `openMs` the broker itself is asked (its metadata, no customer's message) → half open: one request
 * now and then → closed by a confirmation, open again otherwise. Nothing is lost: what was reserved before stays pending, and repeats still pass.
 */
import type { FunnelTuning } from '../../../domain/funnel.js';
import type { SendOutcome } from '../../../domain/reason-codes.js';
import { unavailable } from '../answers.js';
import type { FunnelLayer } from './layer.js';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BrokerBreaker extends FunnelLayer {
  readonly state: BreakerState;
  /** Told of every send. */
  sent(outcome: SendOutcome): void;
}

export interface BreakerOptions {
  readonly tuning: FunnelTuning['breaker'];
  /** Whether the broker answers on a connection of its own. Never rejects. */
  readonly brokerAnswers: () => Promise<boolean>;
  readonly onChange?: (state: BreakerState) => void;
  /** Monotonic; for tests. */
  readonly nowMs?: () => number;
}

/** While half open so many requests a `openMs` pass: one that ends without a send (sold out, a repeat) decides nothing, so the next must not be long in coming. */
const PROBES_PER_OPENING = 10;

export function createBrokerBreaker({ tuning, brokerAnswers, onChange, nowMs = () => performance.now() }: BreakerOptions): BrokerBreaker {
  let state: BreakerState = 'closed';
  let failures = 0;
  let askAgainAtMs = 0;
  let asking = false;
  let nextProbeAtMs = 0;

  function become(next: BreakerState): void {
    if (next === 'open') askAgainAtMs = nowMs() + tuning.openMs;
    nextProbeAtMs = 0;
    failures = 0;
    if (next === state) return;
    state = next;
    onChange?.(next);
  }

  function ask(): void {
    if (asking || nowMs() < askAgainAtMs) return;
    asking = true;
    void brokerAnswers().then((answers) => {
      asking = false;
      if (state !== 'open') return;
      become(answers ? 'half-open' : 'open');
    });
  }

  return {
    name: 'breaker',
    get state() {
      return state;
    },
    pass(request) {
      if (state === 'closed') return null;
      if (state === 'half-open' && nowMs() >= nextProbeAtMs) {
        nextProbeAtMs = nowMs() + tuning.openMs / PROBES_PER_OPENING;
        return null;
      }
      if (state === 'open') ask();
      return unavailable(request.requestId);
    },
    sent(outcome) {
      if (outcome === 'sent') {
        // A late confirmation of a message from before the outage proves nothing about now.
        if (state === 'closed') failures = 0;
        if (state === 'half-open') become('closed');
        return;
      }
      if (state === 'half-open') become('open');
      if (state !== 'closed') return;
      failures += 1;
      if (failures >= tuning.failures) become('open');
    },
  };
}

/**
 * The permits and device ids that arrivals show. The generator stands for the qualification service too: it signs with the secret that the gateways check, and
 * bots show none, one signed with another secret, one whose time is over, or one that was shown before.
 */
import { createHmac } from 'node:crypto';

import { DEVICE_HEADER, PERMIT_HEADER, encodePermit } from '../domain/permit.js';
import { arrivalKindAt, deviceIdAt, nonceAt, permitAt, userIdAt, type ArrivalPlan } from '../facts/arrival-plan.js';
import type { LoadSpec } from '../facts/load-spec.js';

/** An expired permit has been so for this long, more than clocks differ by. */
const EXPIRED_FOR_MS = 60_000;

export interface ShownByArrival {
  /** null: it shows no permit. */
  readonly permit: string | null;
  readonly deviceId: string;
}

export interface Permits {
  /** What the arrival shows; null where nobody shows anything. */
  shownAt(arrival: number): ShownByArrival | null;
  /** The same as header lines, each begun with CR LF. */
  headersAt(arrival: number): string;
}

/** What arrivals show where there is no funnel. */
export const NO_PERMITS: Permits = { shownAt: () => null, headersAt: () => '' };

/** The permits' time counts from the first one on; `wallMs` is asked once. */
export function permitsOf(load: LoadSpec, plan: ArrivalPlan, secret: string, wallMs: () => number): Permits {
  const { permits } = load;
  if (permits === null) return NO_PERMITS;
  let firstMs: number | null = null;
  const permitFor = (arrival: number, expiresAtMs: number, key: string): string =>
    encodePermit(
      { activityId: load.activityId, skuId: load.skuId, userId: userIdAt(plan, arrival), expiresAtMs, nonce: nonceAt(load, arrival) },
      (payload) => createHmac('sha256', key).update(payload).digest('base64url'),
    );
  const shownAt = (arrival: number): ShownByArrival => {
    firstMs ??= wallMs();
    const deviceId = deviceIdAt(load, plan, arrival);
    const kind = arrivalKindAt(plan, arrival);
    if (kind === 'no-permit') return { permit: null, deviceId };
    const permit = permitFor(
      permitAt(plan, arrival),
      kind === 'expired-permit' ? firstMs - EXPIRED_FOR_MS : firstMs + permits.validForMs,
      kind === 'forged-permit' ? `not ${secret}` : secret,
    );
    return { permit, deviceId };
  };
  return {
    shownAt,
    headersAt(arrival) {
      const { permit, deviceId } = shownAt(arrival);
      return `${permit === null ? '' : `\r\n${PERMIT_HEADER}: ${permit}`}\r\n${DEVICE_HEADER}: ${deviceId}`;
    },
  };
}

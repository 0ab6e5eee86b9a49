/** What arrivals show: a permit that the gateway can check, or what bots have instead. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { parsePermit, permitPayload } from '../domain/permit.js';
import { arrivalKindAt, expandArrivalPlan, userIdAt } from '../facts/arrival-plan.js';
import { DEFAULT_MIX, type ArrivalKind } from '../facts/load-spec.js';
import { NO_PERMITS, permitsOf } from './permits.js';
import { loadSpec } from './storm-run.test-support.js';

const SECRET = 'a secret';
const load = loadSpec({
  ratePerSecond: 4_000, mix: { ...DEFAULT_MIX, repeatShare: 0.2 },
  permits: { validForMs: 1_000, bots: { noPermit: 0.1, forgedPermit: 0.1, expiredPermit: 0.1, replayedPermit: 0.1, devices: 3 } },
});
const plan = expandArrivalPlan(load);
let asked = 0;
const permits = permitsOf(load, plan, SECRET, () => { asked += 1; return 1_000_000; });

function shownBy(kind: ArrivalKind): { permit: string | null; device: string | null; arrival: number }[] {
  return Array.from({ length: plan.length }, (_, arrival) => arrival).filter((arrival) => arrivalKindAt(plan, arrival) === kind).map((arrival) => {
    const headers = permits.headersAt(arrival);
    return { arrival, permit: /\r\nX-Permit: ([^\r]*)/.exec(headers)?.[1] ?? null, device: /\r\nX-Device-Id: ([^\r]*)/.exec(headers)?.[1] ?? null };
  });
}

function isSigned(arrival: number, permit: string | null): boolean {
  const shown = parsePermit(permit ?? '');
  if (shown === null) return false;
  const payload = permitPayload({ activityId: load.activityId, skuId: load.skuId, userId: userIdAt(plan, arrival), expiresAtMs: shown.expiresAtMs, nonce: shown.nonce });
  return createHmac('sha256', SECRET).update(payload).digest('base64url') === shown.signature;
}

describe('permits', () => {
  it('of everyone who is no bot are good and their own; a repeat shows that of its request', () => {
    for (const { arrival, permit } of [...shownBy('fresh'), ...shownBy('repeat')]) {
      expect(isSigned(arrival, permit)).toBe(true);
      expect(parsePermit(permit ?? '')?.expiresAtMs).toBe(1_001_000);
      expect(permit).toBe(/X-Permit: ([^\r]*)/.exec(permits.headersAt(plan.requestOf[arrival] ?? 0))?.[1]);
    }
    expect(new Set(shownBy('fresh').map(({ permit }) => permit)).size).toBe(shownBy('fresh').length);
    expect(asked).toBe(1);
  });

  it('of bots are missing, forged, over, or shown before', () => {
    expect(shownBy('no-permit').every(({ permit }) => permit === null)).toBe(true);
    for (const { arrival, permit } of shownBy('forged-permit')) expect(parsePermit(permit ?? '') !== null && !isSigned(arrival, permit)).toBe(true);
    for (const { arrival, permit } of shownBy('expired-permit')) expect(isSigned(arrival, permit) && (parsePermit(permit ?? '')?.expiresAtMs ?? Infinity) < 1_000_000).toBe(true);
    for (const { arrival, permit } of shownBy('replayed-permit')) {
      expect(isSigned(arrival, permit)).toBe(true);
      expect(permits.headersAt(plan.permitOf[arrival] ?? arrival)).toContain(permit);
    }
    expect(new Set(shownBy('no-permit').map(({ device }) => device))).toEqual(new Set(['bot-0', 'bot-1', 'bot-2']));
  });

  it('are the same with and without headers', () => {
    for (let arrival = 0; arrival < plan.length; arrival += 7) {
      const shown = permits.shownAt(arrival);
      expect(permits.headersAt(arrival)).toBe(`${shown?.permit == null ? '' : `\r\nX-Permit: ${shown.permit}`}\r\nX-Device-Id: ${shown?.deviceId ?? ''}`);
    }
  });

  it('are not shown where there is no funnel', () => {
    expect(permitsOf({ ...load, permits: null }, plan, SECRET, Date.now)).toBe(NO_PERMITS);
    expect(NO_PERMITS.headersAt(0)).toBe('');
    expect(NO_PERMITS.shownAt(0)).toBeNull();
  });
});

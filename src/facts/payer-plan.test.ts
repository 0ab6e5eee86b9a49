/** What payers do: seeded by the arrival alone, in the shares that were asked for, within the times of their kind. */
import { describe, expect, it } from 'vitest';

import type { PayerSpec } from './load-spec.js';
import { payerAt, unknownOrderId, type PlannedPayer } from './payer-plan.js';

const payers: PayerSpec = {
  shares: { inTime: 0.3, late: 0.2, twice: 0.1, refund: 0.1, cancel: 0.1 },
  channel: { unannounced: 0.2, silent: 0.2, pendingFirst: 0.1, repeated: 0.3, contradicted: 0.2, wrongAmount: 0.1, unknownOrder: 0.05 },
  answers: { slow: 0, none: 0, contradictory: 0, refundPending: 0 },
  afterMsMin: 100,
  afterMsMax: 1_000,
  lateAfterMsMin: 3_000,
  lateAfterMsMax: 4_000,
  callbackAfterMs: 20,
};
const COUNT = 20_000;
const all = Array.from({ length: COUNT }, (_, arrival) => payerAt({ seed: 5, payers }, arrival));
const paying = all.filter((payer) => ['in-time', 'late', 'twice', 'refund'].includes(payer.kind));

function share(of: readonly PlannedPayer[], holds: (payer: PlannedPayer) => boolean): number {
  return of.filter(holds).length / of.length;
}

describe('payers', () => {
  it('come in the shares asked for', () => {
    expect(share(all, (payer) => payer.kind === 'in-time')).toBeCloseTo(0.3, 1);
    expect(share(all, (payer) => payer.kind === 'refund')).toBeCloseTo(0.1, 1);
    expect(share(all, (payer) => payer.kind === 'late')).toBeCloseTo(0.2, 1);
    expect(share(all, (payer) => payer.kind === 'twice')).toBeCloseTo(0.1, 1);
    expect(share(all, (payer) => payer.kind === 'cancel')).toBeCloseTo(0.1, 1);
    expect(share(all, (payer) => payer.kind === 'never')).toBeCloseTo(0.2, 1);
  });

  it('are the same for the same seed and arrival, and others for another seed', () => {
    expect(payerAt({ seed: 5, payers }, 17)).toEqual(all[17]);
    expect(Array.from({ length: 100 }, (_, arrival) => payerAt({ seed: 6, payers }, arrival))).not.toEqual(all.slice(0, 100));
  });

  it('act within the times of their kind', () => {
    for (const { kind, actsAfterMs, callbackAfterMs } of all) {
      if (kind === 'never') expect(actsAfterMs).toBe(0);
      else expect(actsAfterMs >= 100 && actsAfterMs < 1_000).toBe(true);
      if (kind === 'late') expect(callbackAfterMs >= 3_000 && callbackAfterMs < 4_000).toBe(true);
      else if (kind !== 'never') expect(callbackAfterMs).toBe(actsAfterMs + 20);
    }
    expect(share(paying, ({ announced }) => announced)).toBeCloseTo(0.8, 1);
    const silent = paying.filter((payer) => payer.silent);
    expect(silent.length / paying.length).toBeGreaterThan(0.03);
    for (const { kind, announced, callbacks } of silent) {
      expect({ kind, announced }).toEqual({ kind: 'in-time', announced: true });
      expect(callbacks.map(({ says }) => says)).toEqual(['SUCCEEDED']);
    }
  });

  it('make trades and callbacks with ids of their own; a repeated callback has the ids of the first', () => {
    const ids = new Map<string, string>();
    for (const { kind, callbacks } of all) {
      if (kind === 'never' || kind === 'cancel') expect(callbacks).toEqual([]);
      const trades = new Set(callbacks.filter((callback) => !callback.unknownOrder).map((callback) => callback.tradeNo));
      if (callbacks.length > 0) expect(trades.size).toBe(kind === 'twice' ? 2 : 1);
      for (const callback of callbacks) {
        const known = ids.get(callback.callbackId);
        const content = JSON.stringify(callback);
        expect(known === undefined || known === content).toBe(true);
        ids.set(callback.callbackId, content);
      }
    }
    expect(share(paying, ({ callbacks }) => new Set(callbacks).size < callbacks.length)).toBeGreaterThan(0.25);
    expect(share(paying, ({ callbacks }) => callbacks.some((callback) => callback.says === 'FAILED'))).toBeGreaterThan(0.15);
    expect(share(paying, ({ callbacks }) => callbacks[0]?.says === 'PENDING')).toBeCloseTo(0.1, 1);
    expect(share(paying, ({ callbacks }) => callbacks.some((callback) => callback.amountOff !== 0))).toBeCloseTo(0.1, 1);
    expect(share(paying, ({ callbacks }) => callbacks.some((callback) => callback.unknownOrder))).toBeCloseTo(0.05, 1);
  });

  it('do nothing where nobody pays', () => {
    expect(payerAt({ seed: 5, payers: null }, 3)).toEqual({ kind: 'never', actsAfterMs: 0, announced: false, silent: false, callbackAfterMs: 0, callbacks: [] });
    expect(unknownOrderId(3)).toBe('1000000010');
  });
});

/** Sums over the last moments: for gauges that tell a rate or a share by themselves, without a query language over counters. */

export interface RateWindow {
  /** Adds `by` to the present moment. */
  add(by?: number): void;
  /** Sum over the window. */
  sum(): number;
  /** Sum divided by the window's length, or by the time since the first `add` where that is shorter; 0 before it. */
  perSecond(): number;
}

const SLOTS = 10;

/** A window of `lengthMs` in ten slots, so what is forgotten is forgotten a tenth at a time. `nowMs`: monotonic; for tests. */
export function createRateWindow(lengthMs: number, nowMs: () => number = () => performance.now()): RateWindow {
  const slotMs = lengthMs / SLOTS;
  const slots = new Float64Array(SLOTS);
  let newest = 0;
  let startedAtMs: number | null = null;

  function moveOn(): number {
    const slot = Math.floor(nowMs() / slotMs);
    for (let passed = Math.max(newest + 1, slot - SLOTS + 1); passed <= slot; passed += 1) slots[passed % SLOTS] = 0;
    newest = Math.max(newest, slot);
    return newest % SLOTS;
  }

  function sum(): number {
    moveOn();
    return slots.reduce((total, slot) => total + slot, 0);
  }

  return {
    add(by = 1) {
      const slot = moveOn();
      slots[slot] = (slots[slot] ?? 0) + by;
      startedAtMs ??= nowMs();
    },
    sum,
    perSecond() {
      if (startedAtMs === null) return 0;
      return (sum() * 1_000) / Math.min(lengthMs, Math.max(slotMs, nowMs() - startedAtMs));
    },
  };
}

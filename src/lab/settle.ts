/** Step 7: waits for DRAINED with a bound. Not drained is an answer, not an error: the judges say what it means. */
import { monoUs } from './host-clock.js';
import { openWork, type DrainProbe } from './drained.js';
import { waitUntil } from './abort.js';

export interface Drained {
  readonly drainedUs: number | null;
  readonly open: readonly string[];
}

const LOOK_EVERY_MS = 100;

/** `drainedUs` is when the first of two empty looks began: one look reads the stores one after the other, so a single one could miss work passing by. */
export async function waitForDrained(signal: AbortSignal, probe: DrainProbe, boundMs: number): Promise<Drained> {
  let open: string[] = [];
  let firstEmptyUs: number | null = null;
  const drained = await waitUntil(signal, boundMs, LOOK_EVERY_MS, async () => {
    const beganUs = monoUs();
    open = await openWork(probe);
    if (open.length > 0) {
      firstEmptyUs = null;
      return false;
    }
    if (firstEmptyUs !== null) return true;
    firstEmptyUs = beganUs;
    return false;
  });
  return drained ? { drainedUs: firstEmptyUs, open: [] } : { drainedUs: null, open: open.length > 0 ? open : ['became empty only at the end of the bound'] };
}

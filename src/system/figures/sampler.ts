/** Asks a store for its figures now and then, for gauges: bounded in its share of the store's time, and silent about a store that is away. */
import type { RoleSurroundings } from '../role.js';

export interface SamplerOptions {
  /** For the log. */
  readonly store: string;
  /** Shortest time between two samples; 0: never sampled. */
  readonly intervalMs: number;
  /** Rejects when the store does not answer; the gauges then keep their last values. */
  readonly sample: () => Promise<void>;
  readonly log: RoleSurroundings['log'];
}

export interface Sampler {
  /** Resolves when the sample in hand has ended. */
  stop(): Promise<void>;
}

/** A sample that took 100 ms is not repeated for 5 s: the question costs at most a fiftieth of the store's time. */
const REST_FACTOR = 50;

/** Samples once at once, then until `stop`. */
export function startSampler({ store, intervalMs, sample, log }: SamplerOptions): Sampler {
  if (intervalMs <= 0) return { stop: () => Promise.resolve() };
  const state = { stopped: false, away: false };
  let wake: () => void = () => undefined;

  async function once(): Promise<number> {
    const startedAtMs = performance.now();
    try {
      await sample();
      state.away = false;
    } catch (error) {
      // One line an outage; the store's users tell the rest.
      if (!state.away) log('info', `the figures of ${store} cannot be read`, { reason: error instanceof Error ? error.message : String(error) });
      state.away = true;
    }
    return performance.now() - startedAtMs;
  }

  async function loop(): Promise<void> {
    while (!state.stopped) {
      const tookMs = await once();
      const restMs = Math.max(intervalMs, tookMs * REST_FACTOR);
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (state.stopped) resolve();
        else setTimeout(resolve, restMs).unref();
      });
    }
  }

  const running = loop();
  return {
    stop() {
      state.stopped = true;
      wake();
      return running;
    },
  };
}

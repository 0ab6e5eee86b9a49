/**
 * When an activity takes reservations, by the meta that warm-up wrote into Redis and by this server's clock. The meta is kept for a moment,
 * so that the window costs one Redis call a second and not one a request. It carries the version of the activity's configuration: a new one is
 * in force as soon as it is read, and the reserve script refuses calls under an older one.
 */
import type { Clock } from '../../domain/clock.js';
import type { SkuKey } from '../../domain/ids.js';
import type { SkuMeta, StockPort } from '../stock/stock-port.js';

export type WindowState =
  | { readonly state: 'open' }
  | { readonly state: 'not-started'; readonly startsInMs: number }
  | { readonly state: 'ended' }
  /** Redis has no meta for this SKU, or does not answer: fail closed. */
  | { readonly state: 'unavailable' };

export interface ActivityWindow {
  check(sku: SkuKey): WindowState | Promise<WindowState>;
  /** What is known without asking, old as it may be; null: nothing yet. Has it read again in the background, about once a second. */
  peek(sku: SkuKey): { readonly state: WindowState; readonly activityVersion: string } | null;
}

/** Meta older than this is read again, while the old one still serves. */
const FRESH_MS = 1_000;
/** Meta older than this serves no more. Longer than a Redis hiccup, short against a stop by an operator; the script checks the stop as well. */
const STALE_MS = 3_000;
/** Between two looks for a meta that was not there. */
const RETRY_MS = 50;

interface Cached {
  readonly meta: SkuMeta;
  readonly readAtMs: number;
}

const nameOf = (sku: SkuKey): string => `${sku.activityId}:${sku.skuId}`;

export function createActivityWindow(stock: Pick<StockPort, 'meta'>, clock: Clock, monotonicMs: () => number = () => performance.now()): ActivityWindow {
  const cache = new Map<string, Cached>();
  const reading = new Map<string, Promise<Cached | null>>();
  const peekedAtMs = new Map<string, number>();

  function read(name: string, sku: SkuKey): Promise<Cached | null> {
    const running = reading.get(name);
    if (running !== undefined) return running;
    const question = stock
      .meta(sku)
      .then((reply) => {
        if (reply.outcome !== 'done') return null;
        if (reply.meta === null) {
          cache.delete(name);
          return null;
        }
        const cached = { meta: reply.meta, readAtMs: monotonicMs() };
        cache.set(name, cached);
        return cached;
      })
      .finally(() => reading.delete(name));
    reading.set(name, question);
    return question;
  }

  function judge(meta: SkuMeta): WindowState {
    const nowMs = clock.nowMs();
    if (nowMs < meta.startAtMs) return { state: 'not-started', startsInMs: meta.startAtMs - nowMs };
    if (nowMs >= meta.endAtMs || meta.status === 'stopped') return { state: 'ended' };
    return { state: 'open' };
  }

  return {
    peek(sku) {
      const name = nameOf(sku);
      const cached = cache.get(name);
      const now = monotonicMs();
      const lastTryMs = Math.max(cached?.readAtMs ?? -Infinity, peekedAtMs.get(name) ?? -Infinity);
      if (now - lastTryMs >= (cached === undefined ? RETRY_MS : FRESH_MS)) {
        peekedAtMs.set(name, now);
        void read(name, sku);
      }
      return cached === undefined ? null : { state: judge(cached.meta), activityVersion: cached.meta.activityVersion };
    },
    check(sku) {
      const name = nameOf(sku);
      const cached = cache.get(name);
      const ageMs = cached === undefined ? Infinity : monotonicMs() - cached.readAtMs;
      if (cached !== undefined && ageMs < STALE_MS) {
        if (ageMs >= FRESH_MS) void read(name, sku);
        return judge(cached.meta);
      }
      return read(name, sku).then((fresh) => (fresh === null ? { state: 'unavailable' } : judge(fresh.meta)));
    },
  };
}

/**
 * What a toxic that only delays must do to whoever uses its link, and whether it does: measured by the lab as a client of the same link. An exchange takes at
 * least as long as the toxic holds it up, on however fast or slow a machine; that it took no longer before is told and proves nothing.
 */
import type { LinkProbe, LinkTarget, ToxicSpec, Witness } from '../facts/targets.js';
import { STORE_NAMES, type LinkName } from '../domain/roles.js';

/** What cannot be faster under a toxic: an exchange of so many bytes each way, or the end of a connection. */
export interface LinkEffect {
  readonly what: 'exchange' | 'closing';
  readonly bytes: number;
  readonly leastMs: number;
  /** What one exchange waited too long, the next need not wait: only all of them together take as long as told. */
  readonly isMadeUpFor: boolean;
}

/** Exchanges are as large as takes this long, so that what a machine needs by itself is little beside it. */
const NARROW_MS = 100;
const LOOKS = 3;

/** Null: a toxic of another kind, whose effect is not a delay. */
export function effectOf({ type, attributes }: ToxicSpec): LinkEffect | null {
  const { latency = 0, jitter = 0, rate = 0, delay = 0, average_size: size = 0 } = attributes;
  switch (type) {
    case 'latency':
      return { what: 'exchange', bytes: 1, leastMs: latency - jitter, isMadeUpFor: false };
    case 'bandwidth':
      // Toxiproxy takes KB/s to be bytes per millisecond, and takes off the next wait by how much the last one was too long.
      return { what: 'exchange', bytes: rate * NARROW_MS, leastMs: NARROW_MS, isMadeUpFor: true };
    case 'slicer': {
      // It waits for so many microseconds after each slice; the wait after the last one is nobody's.
      const slices = Math.max(3, Math.ceil((NARROW_MS * 1000) / Math.max(1, delay)) + 1);
      return { what: 'exchange', bytes: size * slices, leastMs: ((slices - 1) * delay) / 1000, isMadeUpFor: false };
    }
    case 'slow_close':
      return { what: 'closing', bytes: 0, leastMs: delay, isMadeUpFor: false };
    default:
      return null;
  }
}

function subjectOf({ what, bytes }: LinkEffect): string {
  return what === 'closing' ? 'the end of a connection' : `an exchange of ${bytes.toLocaleString('en-US')} B`;
}

/** For a prediction; empty for a toxic that does not delay. */
export function effectInWords(toxic: ToxicSpec): string {
  const effect = effectOf(toxic);
  return effect === null ? '' : `${subjectOf(effect)} takes at least ${String(effect.leastMs)} ms`;
}

/** The measuring of one effect, begun before the toxic is added. */
export interface EffectLooks {
  /** Looks up to three times, as long as `goesOn`; at least once. */
  look(goesOn: () => boolean): Promise<void>;
  end(): Promise<void>;
  /** There were looks, and they found the delay. */
  seen(): boolean;
  readonly observed: string;
}

/** Never rejects: a link that cannot be measured proves nothing, and is healed all the same. */
export async function beginLooks(witness: Witness, link: LinkTarget, effect: LinkEffect): Promise<EffectLooks> {
  const store = STORE_NAMES.find((name) => (link.name as LinkName).endsWith(`-${name}`));
  const tookMs: number[] = [];
  let beforeMs = Number.NaN;
  let probe: LinkProbe | null = null;
  let problem = store === undefined ? `${link.name} is no link to a store` : '';
  const measure = async (open: LinkProbe, leastMs: number): Promise<number> => (effect.what === 'closing' ? open.closing(leastMs) : open.exchange(effect.bytes, leastMs));
  try {
    if (store !== undefined) {
      probe = await witness.probe(link.listen, store);
      beforeMs = await measure(probe, 0);
    }
  } catch (cause) {
    problem = wordsOf(cause);
  }
  return {
    async look(goesOn) {
      try {
        while (probe !== null && problem === '' && tookMs.length < LOOKS && (tookMs.length === 0 || goesOn())) tookMs.push(await measure(probe, effect.leastMs));
      } catch (cause) {
        problem = wordsOf(cause);
      }
    },
    end: async () => {
      await probe?.end();
    },
    seen: () => problem === '' && tookMs.length > 0 && (effect.isMadeUpFor ? tookMs.reduce((sum, took) => sum + took, 0) >= tookMs.length * effect.leastMs : tookMs.every((took) => took >= effect.leastMs)),
    get observed() {
      const what = subjectOf(effect);
      if (problem !== '') return `${what} NOT measured: ${problem}`;
      return `${what} took ${beforeMs.toFixed(1)} ms before and ${tookMs.map((took) => took.toFixed(1)).join(', ') || '?'} ms meanwhile, of ${String(effect.leastMs)} at least`;
    },
  };
}

function wordsOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

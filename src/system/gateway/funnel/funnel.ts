/**
 * The layers in their order, with what each one let pass and kept away. A request that is known to be accepted is not asked: its repeat takes nothing.
 */
import { FUNNEL_LAYERS, type FunnelLayerName, type FunnelTuning } from '../../../domain/funnel.js';
import type { RoleMetrics } from '../../role-metrics.js';
import type { GatewayAnswer } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import type { FunnelLayer, LayerVerdict } from './layer.js';

/** A refusal that many hear alike, in one turn. */
export interface StandingVerdict {
  /** Its request id is empty. */
  readonly answer: GatewayAnswer;
  /** How many have heard it, for the counts of the layers. */
  heard(count: number): void;
}

export interface Funnel {
  /** Null: let in. A promise only where a layer waits. */
  pass(request: ValidReservation): LayerVerdict | Promise<LayerVerdict>;
  /** What everybody of a SKU hears now whom the gateway does not know; null: each has to be asked for by himself. */
  standing(skuId: string): StandingVerdict | null;
  /** A repeat that went by all layers. */
  passedAsKnown(): void;
  /** Since the start, by layer. */
  readonly counts: Readonly<Partial<Record<FunnelLayerName, { readonly passed: number; readonly refused: number }>>>;
}

interface Counted {
  readonly layer: FunnelLayer;
  passed: number;
  refused: number;
}

/** `layers` in any order; those that are off in the tuning are left out. */
export function createFunnel(layers: readonly FunnelLayer[], on: FunnelTuning['layers'], metrics: Pick<RoleMetrics, 'counter' | 'beforeText'>): Funnel {
  const counted: readonly Counted[] = FUNNEL_LAYERS.flatMap((name) => {
    const layer = layers.find((each) => each.name === name);
    return layer === undefined || !on[name] ? [] : [{ layer, passed: 0, refused: 0 }];
  });
  let known = 0;
  reportAtScrape(counted, () => known, metrics);

  function count(at: Counted, verdict: LayerVerdict): LayerVerdict {
    if (verdict === null) at.passed += 1;
    else at.refused += 1;
    return verdict;
  }

  function from(index: number, request: ValidReservation): LayerVerdict | Promise<LayerVerdict> {
    for (let at = index; at < counted.length; at += 1) {
      const each = counted[at];
      if (each === undefined) break;
      const verdict = each.layer.pass(request);
      if (verdict instanceof Promise) return verdict.then((later) => count(each, later) ?? from(at + 1, request));
      if (count(each, verdict) !== null) return verdict;
    }
    return null;
  }

  return {
    pass: (request) => from(0, request),
    standing(skuId) {
      for (const [at, each] of counted.entries()) {
        const standing = each.layer.standing?.(skuId);
        if (standing === undefined) return null;
        if (standing === 'passes') continue;
        return {
          answer: standing,
          heard(count) {
            for (const before of counted.slice(0, at)) before.passed += count;
            each.refused += count;
          },
        };
      }
      return null;
    },
    passedAsKnown() {
      known += 1;
    },
    get counts() {
      return Object.fromEntries(counted.map(({ layer, passed, refused }) => [layer.name, { passed, refused }]));
    },
  };
}

/** Counters are written at the scrape: on the hot path they are plain numbers. */
function reportAtScrape(counted: readonly Counted[], known: () => number, metrics: Pick<RoleMetrics, 'counter' | 'beforeText'>): void {
  const counterOf = (layer: string, outcome: string) => metrics.counter('seckill_gateway_funnel_total', 'Requests by layer of the admission funnel and what it did with them', { layer, outcome });
  const series = [
    { recorder: counterOf('known', 'passed'), now: known, told: 0 },
    ...counted.flatMap((at) => [
      { recorder: counterOf(at.layer.name, 'passed'), now: () => at.passed, told: 0 },
      { recorder: counterOf(at.layer.name, 'refused'), now: () => at.refused, told: 0 },
    ]),
  ];
  metrics.beforeText(() => {
    for (const each of series) {
      const now = each.now();
      if (now > each.told) each.recorder.add(now - each.told);
      each.told = now;
    }
  });
}

/** The gateways' own count of what each layer of the admission funnel kept away. A figure for readers: no judge believes it. */
import { FUNNEL_LAYERS } from '../domain/funnel.js';
import type { Facts } from '../facts/facts.js';
import type { FunnelCount, FunnelFigures } from '../facts/verdict.js';
import { monoToWallUs } from './wall-time.js';

const SERIES = /^seckill_gateway_funnel_total\{(.*)\}$/;
const START = /^process_start_time_seconds(\{.*\})?$/;
const ORDER: readonly string[] = ['known', ...FUNNEL_LAYERS];

function labelOf(labels: string, name: string): string | null {
  return new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? null;
}

export function funnelFigures(facts: Facts): FunnelFigures {
  if (!facts.metrics.present) return { counts: [], restarted: null };
  const sums = new Map<string, FunnelCount>();
  for (const series of Object.values(facts.metrics.value)) {
    for (const [name, value] of Object.entries(series)) {
      const labels = SERIES.exec(name)?.[1];
      const [layer, outcome] = labels === undefined ? [null, null] : [labelOf(labels, 'layer'), labelOf(labels, 'outcome')];
      if (layer === null || outcome === null || !Number.isFinite(value)) continue;
      const key = `${layer} ${outcome}`;
      sums.set(key, { layer, outcome, count: (sums.get(key)?.count ?? 0) + value });
    }
  }
  const place = (entry: FunnelCount): number => (ORDER.includes(entry.layer) ? ORDER.indexOf(entry.layer) : ORDER.length);
  const counts = [...sums.values()].sort((left, right) => place(left) - place(right) || (left.outcome < right.outcome ? -1 : 1));
  return { counts, restarted: restartedGateways(facts) };
}

/** Gateways whose last process began after the first arrival was due; null when one of them does not say when it began. */
function restartedGateways(facts: Facts): readonly string[] | null {
  if (!facts.metrics.present || !facts.history.present) return null;
  const stormUs = monoToWallUs(facts.run.clock, facts.history.value.generator.startedUs) ?? Infinity;
  const restarted: string[] = [];
  for (const [instance, series] of Object.entries(facts.metrics.value)) {
    if (!instance.startsWith('gateway-')) continue;
    const start = Object.entries(series).find(([name]) => START.test(name))?.[1];
    if (start === undefined) return null;
    // The process clock is told in whole seconds on some systems.
    if (start * 1_000_000 > stormUs + 1_000_000) restarted.push(instance);
  }
  return restarted;
}

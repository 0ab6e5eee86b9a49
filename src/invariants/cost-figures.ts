/** What the storm cost, from the lab's own measurements and the gateways' counts. Figures for readers: no judge believes them. */
import type { Facts } from '../facts/facts.js';
import type { CostFigures, FunnelFigures } from '../facts/verdict.js';
import { wallToMonoUs } from '../facts/timeline.js';

const CPU = /^seckill_lab_storm_cpu_seconds\{process="([^"]+)"\}$/;
const STEAL = 'seckill_lab_storm_steal_seconds';
const MARK = /^seckill_sold_out_mark_known_seconds(\{.*\})?$/;

export function costFigures(facts: Facts, funnel: FunnelFigures): CostFigures {
  const metrics = facts.metrics.present ? facts.metrics.value : {};
  const lab = metrics['lab'] ?? {};
  const cpuSeconds = Object.fromEntries(Object.entries(lab).flatMap(([series, value]) => {
    const name = CPU.exec(series)?.[1];
    return name === undefined ? [] : [[name, value]];
  }));
  return { reachedRedis: reachedRedis(funnel), soldOutKnownMs: soldOutKnownMs(facts, metrics), cpuSeconds, stealSeconds: lab[STEAL] ?? null };
}

/** Who passes the last layer is asked about in Redis, and so is a known repeat. */
function reachedRedis({ counts }: FunnelFigures): number | null {
  const passed = (layer: string): number => counts.filter((entry) => entry.layer === layer && entry.outcome === 'passed').reduce((sum, entry) => sum + entry.count, 0);
  return counts.length === 0 ? null : passed('known') + passed('in-flight');
}

/** When the first gateway's mark stood for the first time, after the first arrival was due. */
function soldOutKnownMs(facts: Facts, metrics: Readonly<Record<string, Readonly<Record<string, number>>>>): number | null {
  if (!facts.history.present) return null;
  const seconds = Object.values(metrics).flatMap((series) => Object.entries(series).filter(([name, value]) => MARK.test(name) && value > 0).map(([, value]) => value));
  if (seconds.length === 0) return null;
  return (wallToMonoUs(facts.run.clock, Math.min(...seconds) * 1_000_000) - facts.history.value.generator.startedUs) / 1000;
}

/** What the storm cost, from the lab's own measurements and the gateways' counts. Figures for readers: no judge believes them. */
import type { Facts, MetricsFacts } from '../facts/facts.js';
import type { CostFigures, FunnelFigures } from '../facts/verdict.js';
import { wallToMonoUs } from '../facts/timeline.js';

const CPU = /^seckill_lab_storm_cpu_seconds\{process="([^"]+)"\}$/;
const ASKED = /^reservation_lua_requests_total(\{.*\})?$/;
const STEAL = 'seckill_lab_storm_steal_seconds';
const MARK = /^seckill_sold_out_mark_known_seconds(\{.*\})?$/;

export function costFigures(facts: Facts, funnel: FunnelFigures): CostFigures {
  const metrics = facts.metrics.present ? facts.metrics.value : {};
  const lab = metrics['lab'] ?? {};
  const cpuSeconds = Object.fromEntries(Object.entries(lab).flatMap(([series, value]) => {
    const name = CPU.exec(series)?.[1];
    return name === undefined ? [] : [[name, value]];
  }));
  return { reachedRedis: reachedRedis(metrics, funnel), soldOutKnownMs: soldOutKnownMs(facts, metrics), cpuSeconds, stealSeconds: lab[STEAL] ?? null };
}

/** As the gateways counted it at their reserve calls. What the funnel let pass is more: repeats share an answer, and who waits past the deadline is never sent. null: not counted, or not all of it. */
function reachedRedis(metrics: MetricsFacts, { restarted }: FunnelFigures): number | null {
  if (restarted === null || restarted.length > 0) return null;
  const counts = Object.entries(metrics).filter(([instance]) => instance.startsWith('gateway-')).flatMap(([, series]) => Object.entries(series).filter(([name]) => ASKED.test(name)).map(([, value]) => value));
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

/** When the first gateway's mark stood for the first time, after the first arrival was due. */
function soldOutKnownMs(facts: Facts, metrics: MetricsFacts): number | null {
  if (!facts.history.present) return null;
  const seconds = Object.values(metrics).flatMap((series) => Object.entries(series).filter(([name, value]) => MARK.test(name) && value > 0).map(([, value]) => value));
  if (seconds.length === 0) return null;
  return (wallToMonoUs(facts.run.clock, Math.min(...seconds) * 1_000_000) - facts.history.value.generator.startedUs) / 1000;
}

/**
 * Whether the load was what it claims to be: pure arithmetic on the columns, used by the generator for its own report and by judges again.
 *
 * Lateness = handed to a socket (or to the gateway's submit function) − intended. An arrival that waits because all connections are busy is late too:
 * whoever exhausted them, the clients of the plan did not knock when they should have, so the figures describe another load. Take enough
 * connections (rate × the longest stall to be shown). `not-sent` was issued: it knocked and was refused. `dropped` was not issued.
 */
import { ARRIVAL_OUTCOMES, type GeneratorFacts, type HistoryColumns } from './history.js';
import type { LoadVerdict } from './verdict.js';

/** Least share of the schedule that has to be issued. */
export const LEAST_ISSUED_SHARE = 0.999;
/** Lateness p99 may be at most this share of the latency bound that is claimed. */
export const MOST_LATENESS_OF_BOUND = 0.25;

/** Nearest-rank percentile of rising values, `share` 0…1; 0 when there are none. */
export function percentileOf(rising: Float64Array, share: number): number {
  if (rising.length === 0) return 0;
  return rising[Math.min(rising.length - 1, Math.max(0, Math.ceil(share * rising.length) - 1))] ?? 0;
}

/** Lateness of every arrival that was sent, rising, microseconds. */
function risingLateness(columns: HistoryColumns): Float64Array {
  const lateness = new Float64Array(columns.length);
  let count = 0;
  for (let index = 0; index < columns.length; index += 1) {
    const late = (columns.sentUs[index] ?? NaN) - (columns.intendedUs[index] ?? NaN);
    if (Number.isNaN(late)) continue;
    lateness[count] = late;
    count += 1;
  }
  return lateness.subarray(0, count).sort();
}

/** Counts and lateness from the columns; what only the generator's process knows is handed in. */
export function measureGenerator(columns: HistoryColumns, own: { readonly cpuSeconds: number; readonly maxTickGapUs: number }): GeneratorFacts {
  const counts = ARRIVAL_OUTCOMES.map(() => 0);
  for (const outcome of columns.outcome) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const [dropped = 0, notSent = 0, answered = 0, indeterminate = 0] = counts;
  const lateness = risingLateness(columns);
  return {
    scheduled: columns.length,
    issued: columns.length - dropped,
    answered,
    dropped,
    notSent,
    indeterminate,
    latenessP50Us: percentileOf(lateness, 0.5),
    latenessP99Us: percentileOf(lateness, 0.99),
    latenessMaxUs: lateness[lateness.length - 1] ?? 0,
    startedUs: columns.intendedUs[0] ?? 0,
    endedUs: columns.intendedUs[columns.length - 1] ?? 0,
    cpuSeconds: own.cpuSeconds,
    maxTickGapUs: own.maxTickGapUs,
  };
}

function ms(us: number): string {
  return `${(us / 1000).toFixed(1)} ms`;
}

/**
 * `void` iff less than 99.9 % of the schedule was issued, nothing was answered, or lateness p99 is above a quarter of the latency bound claimed
 * (`latencyBoundUs`; null: the run claims none) or above the bound that the load has itself (`latenessBoundUs`; null: it has none). Without either, lateness
 * voids nothing: arrivals that all go out in the end, seconds late, are then as good as any. `unknown` without the generator's facts.
 */
export function judgeLoad(generator: GeneratorFacts | null, latencyBoundUs: number | null, latenessBoundUs: number | null = null): LoadVerdict {
  if (generator === null) return { outcome: 'unknown', reasons: ['the generator left no account of the storm'], generator: null };
  const reasons: string[] = [];
  const { scheduled, issued, answered, latenessP99Us } = generator;
  if (scheduled === 0) reasons.push('nothing was scheduled');
  if (issued < scheduled * LEAST_ISSUED_SHARE) {
    reasons.push(`generator saturated: ${String(issued)} of ${String(scheduled)} arrivals issued (${((100 * issued) / scheduled).toFixed(2)} %), 99.9 % are needed`);
  }
  if (answered === 0) reasons.push('not one request was answered');
  if (latencyBoundUs !== null && latenessP99Us > latencyBoundUs * MOST_LATENESS_OF_BOUND) {
    reasons.push(`generator saturated: lateness p99 ${ms(latenessP99Us)} is above a quarter of the latency bound of ${ms(latencyBoundUs)}`);
  }
  if (latenessBoundUs !== null && latenessP99Us > latenessBoundUs) {
    reasons.push(`generator saturated: lateness p99 ${ms(latenessP99Us)} is above the ${ms(latenessBoundUs)} that this load allows`);
  }
  return { outcome: reasons.length === 0 ? 'valid' : 'void', reasons, generator };
}

/** `facts/metrics.json`: JSON has no NaN and no infinities, Prometheus values do; they travel as text. */
import type { MetricsFacts } from '../facts/facts.js';

type Stored = Record<string, Record<string, number | string>>;

export function encodeMetrics(metrics: MetricsFacts): Stored {
  const stored: Stored = {};
  for (const [role, values] of Object.entries(metrics)) {
    stored[role] = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number.isFinite(value) ? value : String(value)]));
  }
  return stored;
}

/** Null when it is no metrics document. */
export function decodeMetrics(stored: Readonly<Record<string, unknown>>): MetricsFacts | null {
  const metrics: Record<string, Record<string, number>> = {};
  for (const [role, values] of Object.entries(stored)) {
    if (typeof values !== 'object' || values === null || Array.isArray(values)) return null;
    const numbers: [string, number][] = [];
    for (const [name, value] of Object.entries(values as Record<string, unknown>)) {
      if (typeof value === 'number') numbers.push([name, value]);
      else if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') numbers.push([name, Number(value)]);
      else return null;
    }
    metrics[role] = Object.fromEntries(numbers);
  }
  return metrics;
}

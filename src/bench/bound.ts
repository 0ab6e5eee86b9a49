/** What a figure of a bench is held against. */
export type Bound = { readonly atLeast: number } | { readonly atMost: number } | { readonly withinShareOf1: number };

/** What is no number reaches nothing. */
export function reaches(value: number, bound: Bound): boolean {
  if (!Number.isFinite(value)) return false;
  if ('atLeast' in bound) return value >= bound.atLeast;
  if ('atMost' in bound) return value <= bound.atMost;
  return Math.abs(value - 1) <= bound.withinShareOf1;
}

export function inWords(bound: Bound): string {
  if ('atLeast' in bound) return `≥ ${String(bound.atLeast)}`;
  if ('atMost' in bound) return `≤ ${String(bound.atMost)}`;
  return `within ${String(bound.withinShareOf1 * 100)} % of 1`;
}

export function median(values: readonly number[]): number {
  const rising = values.toSorted((left, right) => left - right);
  const middle = Math.floor(rising.length / 2);
  return rising.length % 2 === 1 ? (rising[middle] ?? Number.NaN) : ((rising[middle - 1] ?? Number.NaN) + (rising[middle] ?? Number.NaN)) / 2;
}

const digits = (value: number): string => (Math.abs(value) >= 1_000 ? value.toFixed(0) : value.toFixed(Math.abs(value) < 1 ? 4 : 2));

/** Median, least and most. */
export function spread(values: readonly number[]): string {
  return `${digits(median(values))} (${digits(Math.min(...values))}–${digits(Math.max(...values))})`;
}

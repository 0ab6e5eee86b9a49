/** Where more of a setting stops paying: the smallest value whose rate comes near the best of all. */
export interface SizedValue<Value> {
  readonly value: Value;
  /** Of every repeat; at least one. */
  readonly rates: readonly number[];
}

/** A tenth is what a small machine's noise makes of two equal settings. */
const NEAR_THE_BEST = 0.9;

export function medianRate({ rates }: Pick<SizedValue<unknown>, 'rates'>): number {
  const rising = rates.toSorted((left, right) => left - right);
  return rising[Math.floor((rising.length - 1) / 2)] ?? Number.NaN;
}

/** `rows` in the order from the cheapest setting to the dearest. Throws when there is none. */
export function kneeOf<Value>(rows: readonly SizedValue<Value>[]): SizedValue<Value> {
  const best = Math.max(...rows.map(medianRate));
  const knee = rows.find((row) => medianRate(row) >= best * NEAR_THE_BEST);
  if (knee === undefined) throw new Error('a knee needs rates');
  return knee;
}

/** The cheapest setting near the best is taken, by the median of its repeats. */
import { expect, it } from 'vitest';

import { kneeOf, medianRate } from './knee.js';

const row = (value: number, ...rates: number[]) => ({ value, rates });

it('takes the first that comes within a tenth of the best', () => {
  expect(kneeOf([row(8, 500), row(16, 899), row(32, 900), row(64, 1_000), row(128, 990)]).value).toBe(32);
  expect(kneeOf([row(8, 1_000), row(16, 1_050)]).value).toBe(8);
});

it('is not misled by one lucky or unlucky repeat', () => {
  expect(medianRate(row(1, 10, 900, 950))).toBe(900);
  expect(kneeOf([row(8, 100, 2_000, 110), row(16, 1_000, 10, 1_010)]).value).toBe(16);
});

it('needs rates', () => {
  expect(() => kneeOf([])).toThrow('needs rates');
  expect(() => kneeOf([row(8, Number.NaN)])).toThrow('needs rates');
});

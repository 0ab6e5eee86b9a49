/** Each cut that a sweep can ask for is one that the fault can make: a call that follows, or the connection itself. */
import { expect, it } from 'vitest';

import { STEPS, STEP_NAMES, type Step } from '../../domain/steps.js';
import { SWEEP_HITS } from '../../facts/sweep.js';
import { parseFaultOption } from '../../faults/registry.js';
import { faultOf } from './sweep-run.js';

it.each(STEP_NAMES)('every cut at %s can be bound', (step) => {
  const { links }: Step = STEPS[step];
  const texts = links.flatMap((link) => SWEEP_HITS.map((when) => faultOf({ step, action: 'cut', when, hit: 1, link, hasPartner: false }, false)));
  expect(texts.flatMap((text) => { const parsed = parseFaultOption(text); return parsed.ok ? [] : parsed.problems; })).toEqual([]);
});

/** The options of `sweep`: one table gives flag, help and validation; every problem is reported at once. */
import { z } from 'zod';

import { STEPS } from '../../domain/steps.js';
import { LabError } from '../../facts/lab-error.js';
import { SWEEP_ACTIONS, SWEEP_HITS } from '../../facts/sweep.js';
import type { SweepRequest } from './run-sweep.js';
import { selectedSteps } from './sweep-cases.js';

const listOf = <Word extends string>(words: readonly Word[]) =>
  z.string().transform((text, context): readonly Word[] => {
    const asked = text.split(',');
    const unknown = asked.filter((word) => !words.some((known) => known === word));
    if (unknown.length > 0) context.addIssue({ code: 'custom', message: `there is no ${unknown.join(', ')}; there are ${words.join(', ')}` });
    return words.filter((word) => asked.includes(word));
  });

const wholeNumber = (min: number, max: number) => z.coerce.number({ error: 'is not a number' }).int('must be a whole number').min(min, `must be at least ${String(min)}`).max(max, `must be at most ${String(max)}`);

const stepPattern = z.string().refine((text) => selectedSteps(STEPS, text).length > 0, 'matches no step; see src/domain/steps.ts, for example consumer.*');

export const SWEEP_OPTIONS = {
  steps: { flag: '--steps <pattern>', help: 'only these steps, such as consumer.*', schema: stepPattern },
  actions: { flag: '--actions <list>', help: 'kill,pause,cut (all)', schema: listOf(SWEEP_ACTIONS) },
  hits: { flag: '--hits <list>', help: 'first,middle,last (all)', schema: listOf(SWEEP_HITS) },
  lanes: { flag: '--lanes <count>', help: 'cases side by side (3)', schema: wholeNumber(1, 10) },
  seed: { flag: '--seed <number>', help: 'seed of the loads, of pairs and of the sample', schema: wholeNumber(1, 4_294_967_295) },
  pairs: { flag: '--pairs <count>', help: 'also so many pairs of steps, drawn by the seed (0)', schema: wholeNumber(0, 10_000) },
} as const;

const DEFAULT_LANES = 3;
/** Every role with every action, and a few more: about a minute on two cores. */
export const REDUCED_SIZE = 36;

export interface SweepOptions {
  readonly request: SweepRequest;
  readonly lanes: number;
}

/** Checks raw texts of the command line. LabError USAGE names every problem, those found elsewhere too. */
export function parseSweepOptions(raw: Readonly<Record<string, unknown>>, otherProblems: readonly string[] = []): SweepOptions {
  const problems = [...otherProblems];
  const checked = <Key extends keyof typeof SWEEP_OPTIONS>(key: Key): z.output<(typeof SWEEP_OPTIONS)[Key]['schema']> | undefined => {
    if (raw[key] === undefined) return undefined;
    const parsed = SWEEP_OPTIONS[key].schema.safeParse(raw[key]);
    if (parsed.success) return parsed.data as z.output<(typeof SWEEP_OPTIONS)[Key]['schema']>;
    for (const issue of parsed.error.issues) problems.push(`--${key} ${typeof raw[key] === 'string' ? raw[key] : JSON.stringify(raw[key])}: ${issue.message}`);
    return undefined;
  };
  const options: SweepOptions = {
    lanes: checked('lanes') ?? DEFAULT_LANES,
    request: {
      seed: checked('seed') ?? 1 + Math.floor(Math.random() * 2_147_483_646),
      mutant: typeof raw['mutant'] === 'string' ? raw['mutant'] : null,
      selection: { steps: checked('steps') ?? null, actions: checked('actions') ?? SWEEP_ACTIONS, hits: checked('hits') ?? SWEEP_HITS },
      pairs: checked('pairs') ?? 0,
      sample: raw['reduced'] === true ? REDUCED_SIZE : null,
    },
  };
  if (problems.length > 0) throw new LabError('USAGE', `${String(problems.length)} problem${problems.length === 1 ? '' : 's'} with the command line:\n  ${problems.join('\n  ')}`, 'see `seckill-lab sweep --help`');
  return options;
}

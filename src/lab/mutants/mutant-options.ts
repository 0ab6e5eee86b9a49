/**
 * The options of `mutants`: one table gives flag, help and validation, and validation reports every problem at once (STYLE 12). Knows no mutant by name: the
 * command line reads this table before anything is loaded.
 */
import { z } from 'zod';

import { LabError } from '../../facts/lab-error.js';

const wholeNumber = (min: number, max: number) =>
  z.coerce.number({ error: 'is not a number' }).int('must be a whole number').min(min, `must be at least ${String(min)}`).max(max, `must be at most ${String(max)}`);

/** Given once, several times, or with commas. */
const names = z.array(z.string()).transform((texts) => [...new Set(texts.flatMap((text) => text.split(',')).filter((name) => name !== ''))]);

export const MUTANT_OPTIONS = {
  only: { flag: '--only <names>', help: 'these mutants, comma-separated', schema: names, many: true },
  repeats: { flag: '--repeats <count>', help: 'runs of each mutant (10; reduced: 1)', schema: wholeNumber(1, 1_000), many: false },
  seed: { flag: '--seed <number>', help: 'seed of the first repeat; printed by every matrix', schema: wholeNumber(1, 4_294_967_295), many: false },
  reduced: { flag: '--reduced', help: 'a few mutants, one run each', schema: z.boolean(), many: false },
  cleanSeeds: { flag: '--clean-seeds <count>', help: 'different seeds under which the system as it is has to stay without an alarm, those of the repeats among them (50; reduced: 0)', schema: wholeNumber(0, 10_000), many: false },
  lanes: { flag: '--lanes <count>', help: 'runs at once (2)', schema: wholeNumber(1, 10), many: false },
  withoutJudge: { flag: '--without-judge <names>', help: 'weigh the matrix as if these judges did not exist, to see that they are needed', schema: names, many: true },
} as const;

export interface MutantOptions {
  /** Empty: all, or where it is reduced the few. */
  readonly only: readonly string[];
  readonly repeats: number;
  readonly seed: number;
  readonly reduced: boolean;
  readonly cleanSeeds: number;
  readonly lanes: number;
  readonly withoutJudges: readonly string[];
}

export interface KnownNames {
  readonly mutants: readonly string[];
  readonly judges: readonly string[];
}

/** Throws `LabError` USAGE naming every problem. */
export function parseMutantOptions(raw: Readonly<Record<string, unknown>>, known: KnownNames): MutantOptions {
  const problems: string[] = [];
  const take = <Key extends keyof typeof MUTANT_OPTIONS>(key: Key): z.output<(typeof MUTANT_OPTIONS)[Key]['schema']> | undefined => {
    const { flag, schema } = MUTANT_OPTIONS[key];
    if (raw[key] === undefined) return undefined;
    const parsed = schema.safeParse(raw[key]);
    if (parsed.success) return parsed.data as z.output<(typeof MUTANT_OPTIONS)[Key]['schema']>;
    for (const issue of parsed.error.issues) problems.push(`${flag.split(' ', 1)[0] ?? flag} ${typeof raw[key] === 'string' ? raw[key] : JSON.stringify(raw[key])}: ${issue.message}`);
    return undefined;
  };
  const checkNames = (flag: string, what: string, given: readonly string[] | undefined, all: readonly string[]): void => {
    if (given?.length === 0) problems.push(`${flag}: names no ${what}`);
    for (const name of given ?? []) if (!all.includes(name)) problems.push(`${flag}: there is no ${what} ${JSON.stringify(name)}; there are ${all.join(', ')}`);
  };
  const only = take('only');
  const withoutJudges = take('withoutJudge');
  checkNames('--only', 'mutant', only, known.mutants);
  checkNames('--without-judge', 'judge', withoutJudges, known.judges);
  const reduced = take('reduced') ?? false;
  const options = {
    only: only ?? [],
    repeats: take('repeats') ?? (reduced ? 1 : 10),
    seed: take('seed') ?? 1 + Math.floor(Math.random() * 2_147_483_646),
    reduced,
    cleanSeeds: take('cleanSeeds') ?? (reduced || only !== undefined ? 0 : 50),
    lanes: take('lanes') ?? 2,
    withoutJudges: withoutJudges ?? [],
  };
  if (problems.length > 0) {
    throw new LabError('USAGE', `${String(problems.length)} problem${problems.length === 1 ? '' : 's'} with the command line:\n  ${problems.join('\n  ')}`, 'see `seckill-lab mutants --help` and `seckill-lab list`');
  }
  return options;
}

/**
 * A plan file, YAML or JSON, → a checked `ExperimentPlan`; and the plan of a run, which its manifest embeds, so that `run --plan` can carry it out again.
 */
import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';

import { PLAN_SCHEMA_VERSION, type ExperimentPlan } from '../facts/experiment-plan.js';
import { LabError } from '../facts/lab-error.js';
import { conflictsOf, type NamedFault } from '../faults/fault-conflicts.js';
import { parseFaultOption } from '../faults/registry.js';
import { MUTANTS } from '../mutants/registry.js';
import { mutantPlanNamed } from '../mutants/plans/registry.js';
import { SCENARIOS, scenarioNamed } from '../scenarios/registry.js';
import type { Scenario } from '../scenarios/scenario.js';
import { RUN_OPTIONS } from './run-options.js';

/** A scenario, or one of the small runs in which mutants show: those are no scenarios of their own, and can be run one by one all the same. null: neither. */
export function runNamed(name: string): Scenario | null {
  return scenarioNamed(name) ?? mutantPlanNamed(name);
}

/** What is said elsewhere in a plan. */
const NOT_AMONG_OPTIONS: readonly string[] = ['fault', 'clockSkew', 'seed'];
const OPTION_NAMES = Object.keys(RUN_OPTIONS).filter((key) => !NOT_AMONG_OPTIONS.includes(key));

function optionProblem(key: string, value: string | number): readonly string[] {
  if (!OPTION_NAMES.includes(key)) return [`there is no option ${key}; there are ${OPTION_NAMES.join(' ')}`];
  const parsed = RUN_OPTIONS[key as keyof typeof RUN_OPTIONS].schema.safeParse(String(value));
  return parsed.success ? [] : parsed.error.issues.map((issue) => `options.${key} ${String(value)}: ${issue.message}`);
}

/** Faults of option texts: every problem of each, then the pairs that cannot run together. */
export function faultProblems(texts: readonly string[]): readonly string[] {
  const problems: string[] = [];
  const named: NamedFault[] = [];
  for (const text of texts) {
    const parsed = parseFaultOption(text);
    if (parsed.ok) named.push({ text, fault: parsed.fault });
    else problems.push(...parsed.problems);
  }
  return [...problems, ...conflictsOf(named)];
}

const planSchema = z
  .strictObject({
    schemaVersion: z.literal(PLAN_SCHEMA_VERSION, { error: `must be ${String(PLAN_SCHEMA_VERSION)}` }),
    scenario: z.string({ error: 'must name a scenario' }),
    seed: z.number({ error: 'must be a number' }).int('must be a whole number').min(1, 'must be at least 1').max(4_294_967_295, 'must be at most 4294967295').optional(),
    options: z.record(z.string(), z.union([z.string(), z.number()]), { error: 'must be names with texts or numbers' }).optional(),
    faults: z.array(z.string(), { error: 'must be a list of name@key=value,…' }).optional(),
    mutant: z.string({ error: 'must be the name of a mutant' }).optional(),
  })
  .superRefine((plan, context) => {
    const problem = (message: string): void => context.addIssue({ code: 'custom', message });
    if (runNamed(plan.scenario) === null) problem(`there is no scenario ${JSON.stringify(plan.scenario)}; there are ${SCENARIOS.map(({ name }) => name).join(', ')}`);
    if (plan.mutant !== undefined && !MUTANTS.some(({ name }) => name === plan.mutant)) problem(`there is no mutant ${JSON.stringify(plan.mutant)}; there are ${MUTANTS.map(({ name }) => name).join(', ')}`);
    for (const [key, value] of Object.entries(plan.options ?? {})) optionProblem(key, value).forEach(problem);
    faultProblems(plan.faults ?? []).forEach(problem);
  });

/** Checks the text of a plan file. LabError USAGE names every problem at once. */
export function parsePlan(text: string, where: string): ExperimentPlan {
  let document: unknown;
  try {
    // JSON is YAML; a key that stands twice is refused rather than the last one taken.
    document = parseYaml(text, { uniqueKeys: true });
  } catch (cause) {
    throw new LabError('USAGE', `${where} is neither YAML nor JSON: ${cause instanceof Error ? cause.message : String(cause)}`, 'mend the file', { cause });
  }
  const parsed = planSchema.safeParse(document);
  if (!parsed.success) throw planError(where, parsed.error.issues.map(describeIssue));
  const { schemaVersion, scenario, seed, options, faults, mutant } = parsed.data;
  return {
    schemaVersion, scenario,
    ...(seed === undefined ? {} : { seed }),
    ...(options === undefined ? {} : { options }),
    ...(faults === undefined ? {} : { faults }),
    ...(mutant === undefined ? {} : { mutant }),
  };
}

function planError(where: string, problems: readonly string[]): LabError {
  return new LabError('USAGE', `${String(problems.length)} problem${problems.length === 1 ? '' : 's'} with the plan ${where}:\n  ${problems.join('\n  ')}`, 'see `seckill-lab list` for names; the manifest of every run holds its plan as an example');
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `it has no ${issue.keys.join(', ')}; it has ${Object.keys(planSchema.shape).join(' ')}`;
  const where = issue.path.map(String).join('.');
  return where === '' ? issue.message : `${where} ${issue.message}`;
}

/** Reads and checks a plan file. LabError USAGE when it cannot be read or is wrong. */
export async function readPlanFile(path: string): Promise<ExperimentPlan> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new LabError('USAGE', `the plan ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, 'give the path of a YAML or JSON file', { cause });
  }
  return parsePlan(text, path);
}

/** A plan as raw options of `run`; what the command line gives comes before it. */
export function rawOptionsOf(plan: ExperimentPlan): Readonly<Record<string, string>> {
  const options = Object.entries(plan.options ?? {}).map(([key, value]): [string, string] => [key, String(value)]);
  return Object.fromEntries(plan.seed === undefined ? options : [...options, ['seed', String(plan.seed)]]);
}

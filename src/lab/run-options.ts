/**
 * The options of `run`: one table gives flag, default, help and validation, and validation reports every problem at once (STYLE 12).
 */
import { z } from 'zod';

import type { AllocatorStrategy, ConsumerStrategy } from '../domain/role-config.js';
import type { EdgeForm, TransportName } from '../facts/load-spec.js';
import { LabError } from '../facts/lab-error.js';
import { parseFaultOption } from '../faults/registry.js';

const positiveInteger = (max: number) =>
  z.coerce.number({ error: 'is not a number' }).int('must be a whole number').min(1, 'must be at least 1').max(max, `must be at most ${String(max)}`);

/** `10s`, `500ms`, or a bare number of seconds. */
const durationMs = z.string().transform((text, context) => {
  const match = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m)?$/.exec(text);
  const unitMs = match?.[2] === 'ms' ? 1 : match?.[2] === 'm' ? 60_000 : 1_000;
  const value = match === null ? Number.NaN : Number(match[1]) * unitMs;
  if (!Number.isFinite(value) || value < 1 || value > 3_600_000) {
    context.addIssue({ code: 'custom', message: 'must be a time from 1ms to 60m, such as 10s or 500ms' });
    return z.NEVER;
  }
  return Math.round(value);
});

const consumerStrategy = z.string().regex(/^(single|batch:[1-9][0-9]{0,3})$/, 'must be single or batch:N with N from 1 to 9999').transform((text) => text as ConsumerStrategy);

const faultOption = z.string().superRefine((text, context) => {
  const parsed = parseFaultOption(text);
  if (!parsed.ok) for (const problem of parsed.problems) context.addIssue({ code: 'custom', message: problem });
});

/** `scanner=+60s` → the fault that does it. */
const clockSkewOption = z.string().transform((text, context) => {
  const [role = '', by = '', ...more] = text.split('=');
  const option = `clock-skew@role=${role},by=${by}`;
  const parsed = more.length === 0 && role !== '' && by !== '' ? parseFaultOption(option) : { ok: false as const, problems: ['must be role=time, such as scanner=+60s'] };
  if (parsed.ok) return option;
  for (const problem of parsed.problems) context.addIssue({ code: 'custom', message: problem });
  return z.NEVER;
});

export interface OptionRow {
  readonly flag: string;
  readonly key: string;
  readonly help: string;
  readonly schema: z.ZodType;
}

/** Options that are numbers here and times on the command line. */
const MILLISECONDS: readonly string[] = ['duration'];

/** Checked options as they are written in a plan: without seed and faults, which have places of their own there. */
export function optionTexts(options: RunOptions): Readonly<Record<string, string | number>> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([key, value]: [string, unknown]): [string, string | number][] => {
      if (key === 'fault' || key === 'seed' || (typeof value !== 'string' && typeof value !== 'number')) return [];
      return [[key, MILLISECONDS.includes(key) ? `${String(value)}ms` : value]];
    }),
  );
}

/** Flags of `run` with their checks. A scenario's own values stand where a flag is not given. */
export const RUN_OPTIONS = {
  rate: { flag: '--rate <perSecond>', help: 'arrivals per second', schema: positiveInteger(1_000_000) },
  duration: { flag: '--duration <time>', help: 'length of the storm, such as 10s', schema: durationMs },
  stock: { flag: '--stock <units>', help: 'units on sale', schema: positiveInteger(5_000_000) },
  seed: { flag: '--seed <number>', help: 'seed of the schedule; printed by every run', schema: positiveInteger(4_294_967_295) },
  transport: { flag: '--transport <name>', help: 'http (one request per connection at a time), edge (batches of many customers per connection) or inproc', schema: z.enum(['http', 'edge', 'inproc'], { error: 'must be http, edge or inproc' }) },
  edgeForm: { flag: '--edge-form <form>', help: 'how an edge writes its batches: json or binary (ids alone: fresh requests and repeats, no permits)', schema: z.enum(['json', 'binary'], { error: 'must be json or binary' }) },
  gateways: { flag: '--gateways <count>', help: 'gateway processes', schema: positiveInteger(8) },
  consumers: { flag: '--consumers <count>', help: 'consumer processes', schema: positiveInteger(8) },
  allocator: { flag: '--allocator <name>', help: 'token (SKIP LOCKED rows) or row (conditional update)', schema: z.enum(['token', 'row'], { error: 'must be token or row' }) },
  consumer: { flag: '--consumer <strategy>', help: 'single, or batch:N', schema: consumerStrategy },
  clockSkew: { flag: '--clock-skew <role=time>', help: 'the clock of a role or of one process is off, such as scanner=+60s; the same as --fault clock-skew@…; repeatable', schema: z.array(clockSkewOption) },
  fault: { flag: '--fault <name@key=value,…>', help: 'add a fault to the scenario; repeatable', schema: z.array(faultOption) },
} as const;

export interface RunOptions {
  readonly rate?: number | undefined;
  readonly duration?: number | undefined;
  readonly stock?: number | undefined;
  readonly seed?: number | undefined;
  readonly transport?: TransportName | undefined;
  readonly edgeForm?: EdgeForm | undefined;
  readonly gateways?: number | undefined;
  readonly consumers?: number | undefined;
  readonly allocator?: AllocatorStrategy | undefined;
  readonly consumer?: ConsumerStrategy | undefined;
  /** As fault options. */
  readonly clockSkew?: readonly string[] | undefined;
  readonly fault?: readonly string[] | undefined;
}

/**
 * Checks raw texts from the command line. Extra problems found elsewhere (an unknown scenario) are reported together with its own.
 * Throws `LabError` USAGE naming every problem.
 */
export function parseRunOptions(raw: Readonly<Record<string, unknown>>, otherProblems: readonly string[] = []): RunOptions {
  const problems = [...otherProblems];
  const options: Record<string, unknown> = {};
  for (const [key, row] of Object.entries(RUN_OPTIONS)) {
    const value = raw[key];
    if (value === undefined) continue;
    const parsed = row.schema.safeParse(value);
    if (parsed.success) options[key] = parsed.data;
    else for (const issue of parsed.error.issues) problems.push(`--${key} ${typeof value === 'string' ? value : JSON.stringify(value)}: ${issue.message}`);
  }
  if (problems.length > 0) {
    throw new LabError('USAGE', `${String(problems.length)} problem${problems.length === 1 ? '' : 's'} with the command line:\n  ${problems.join('\n  ')}`, 'see `seckill-lab run --help` and `seckill-lab list`');
  }
  return options;
}

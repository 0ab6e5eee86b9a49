// ops/alerts.yml as promtool would read it, and more strictly: shape, PromQL, metrics and labels that exist, alerts that fire and do not.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

import { metricSources } from './support/metric-sources.js';
import { evaluate, fires, samplesOf, type Sample, type Scrape } from './support/prom-evaluation.js';
import { durationMs, readExpression, selectorsOf } from './support/prom-expression.js';
import { ROOT, textOf } from './support/source-tree.js';

const duration = z.string().regex(/^\d+[smhd]$/);
const rule = z.strictObject({
  alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
  expr: z.string().min(1),
  for: duration,
  labels: z.strictObject({ severity: z.enum(['page', 'ticket']) }),
  annotations: z.strictObject({ summary: z.string().min(10).max(160), runbook: z.string().regex(/^ops\/README\.md#[a-z-]+$/) }),
});
const rulesFile = z.strictObject({ groups: z.array(z.strictObject({ name: z.string().min(1), rules: z.array(rule).min(1) })).min(1) });

const { groups } = rulesFile.parse(parse(textOf('ops/alerts.yml'), { uniqueKeys: true, strict: true }));
const rules = groups.flatMap((group) => group.rules);
const sources = metricSources();
const alert = (name: string): z.infer<typeof rule> => {
  const found = rules.find((each) => each.alert === name);
  if (found === undefined) throw new Error(`no alert ${name}`);
  return found;
};

describe('the file', () => {
  test('names are unique', () => {
    expect(new Set(rules.map(({ alert: name }) => name)).size).toBe(rules.length);
    expect(new Set(groups.map(({ name }) => name)).size).toBe(groups.length);
  });

  test.each(rules.map((each) => [each.alert, each] as const))('%s can be read and asks for what is there', (_name, { expr }) => {
    for (const { metric, matchers } of selectorsOf(readExpression(expr))) {
      const plain = sources.filter(({ name, type }) => name === metric || (type === 'histogram' && ['_bucket', '_sum', '_count'].some((suffix) => metric === `${name}${suffix}`)));
      expect(plain.map(({ name }) => name), `${metric} is shown by some role`).not.toEqual([]);
      const histogramOnly = sources.some(({ name, type }) => name === metric && type === 'histogram');
      expect(histogramOnly, `${metric} is a histogram: its parts are asked for`).toBe(false);
      const labels = new Set(plain.flatMap((source) => source.labels));
      expect(matchers.filter(({ label }) => !labels.has(label) && !['role', 'instance', 'availability_zone'].includes(label))).toEqual([]);
    }
  });

  test('every runbook is there', () => {
    const titles = new Set([...textOf('ops/README.md').matchAll(/^## (.+)$/gm)].map(([, title = '']) => title.toLowerCase().replaceAll(' ', '-')));
    expect(existsSync(join(ROOT, 'ops/README.md'))).toBe(true);
    expect(rules.map(({ annotations }) => annotations.runbook.split('#')[1] ?? '').filter((anchor) => !titles.has(anchor))).toEqual([]);
  });

  test.each(['{{ $value }', 'x }} y', '{{ $labels.sku }}'])('a template like %j would be caught', (text) => {
    expect(templateProblems(text, ['sku_id'])).not.toEqual([]);
  });

  test('templates are closed and name labels that the expression keeps', () => {
    const problems = rules.flatMap(({ expr, annotations }) => templateProblems(annotations.summary, [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, by = '']) => by.split(',').map((label) => label.trim()))));
    expect(problems).toEqual([]);
  });
});

function templateProblems(text: string, kept: readonly string[]): string[] {
  const rest = text.replaceAll(/\{\{ \$(?:value|labels\.([a-z_]+)) \}\}/g, (_whole, label: string | undefined) => (label === undefined || kept.includes(label) ? '' : '{{'));
  return /[{}]/.test(rest) ? [text] : [];
}

describe('the reader is strict', () => {
  test.each([
    ['max(up', 'ends too early'], ['max(up) >', 'ends too early'], ['max(up)) > 1', 'left over'], ['rate(up) > 1', 'takes (range)'], ['up[5m] > 1', 'no range'],
    ['upp{role="x"[1m]', 'expected'], ['quantil(0.9, up)', 'no function quantil'], ['up{role=x}', 'no string'], ['up # 1', 'cannot read'], ['max(rate(up[5]))', 'no duration'],
    ['histogram_quantile(0.9)', 'takes (scalar, vector)'], ['1 and up', 'takes vectors'],
  ])('%s', (text, problem) => {
    expect(() => readExpression(text)).toThrow(problem);
  });
});

describe('the evaluator', () => {
  const at = (atMs: number, text: string): Scrape => ({ atMs, samples: samplesOf(text) });
  const history = [at(0, 'a{x="1"} 1\na{x="2"} 5\n'), at(10_000, 'a{x="1"} 4\n')];

  test.each<readonly [string, number, readonly number[]]>([
    ['a', 10_000, [4]], ['a', 0, [1, 5]], ['max(a)', 0, [5]], ['a{x="1"}', 0, [1]], ['a{x!="1"}', 0, [5]], ['a{x=~"1|2"} > 1', 0, [5]], ['delta(a[1m])', 10_000, [3, 0]],
    ['max(max_over_time(a[1m]))', 10_000, [5]], ['time() - max(a)', 10_000, [6]], ['absent(b)', 0, [1]], ['absent(a)', 0, []], ['a > 1 or a < 2', 0, [5, 1]], ['abs(0 - a)', 10_000, [4]],
    ['sum by (x) (a) / sum by (x) (a)', 0, [1, 1]],
  ])('%s at %d ms', (expression, atMs, values) => {
    expect(evaluate(expression, history, atMs).map(({ value }) => value)).toEqual(values);
  });

  test('an alert with a duration needs its condition at every look of it, and looks that reach back that far', () => {
    const one = { expr: 'a > 0', for: '20s' };
    const high = (atMs: number): Scrape => at(atMs, 'a 1\n');
    expect(fires(one, [high(0), high(10_000), high(20_000)], 20_000)).toBe(true);
    expect(fires(one, [high(0), at(10_000, 'a 0\n'), high(20_000)], 20_000)).toBe(false);
    expect(fires(one, [high(10_000), high(20_000)], 20_000)).toBe(false);
  });
});

describe('what they catch', () => {
  const sample = (name: string, value: number, labels: Readonly<Record<string, string>> = {}): Sample => ({ name, labels, value });
  /** A scrape every 5 s of what `samples` says at that second. */
  const story = (seconds: number, samples: (second: number) => readonly Sample[]): readonly Scrape[] => Array.from({ length: seconds / 5 + 1 }, (_, place) => ({ atMs: place * 5_000, samples: samples(place * 5) }));
  const firesAtEnd = (name: string, history: readonly Scrape[]): boolean => fires(alert(name), history, history.at(-1)?.atMs ?? 0);

  test('ScannerStopped: also when the frozen scanner answers no scrape, not while one of two works', () => {
    const pass = (second: number, instance: string): Sample => sample('seckill_scanner_last_pass_timestamp_seconds', second, { instance });
    expect(firesAtEnd('ScannerStopped', story(60, (second) => [pass(second, 'scanner-1')]))).toBe(false);
    expect(firesAtEnd('ScannerStopped', story(60, (second) => (second < 30 ? [pass(second, 'scanner-1')] : [])))).toBe(true);
    expect(firesAtEnd('ScannerStopped', story(60, (second) => (second < 30 ? [pass(second, 'scanner-1'), pass(second, 'scanner-2')] : [pass(second, 'scanner-2')])))).toBe(false);
    expect(firesAtEnd('ScannerMissing', story(120, () => []))).toBe(true);
  });

  test('ReservationsLeftPending: above 5 s for 10 s, by whichever role sees it', () => {
    const age = (value: number): Sample => sample('reservation_oldest_pending_age', value, { activity_id: '7', sku_id: '70', role: 'projector' });
    expect(firesAtEnd('ReservationsLeftPending', story(30, (second) => [age(second)]))).toBe(true);
    expect(firesAtEnd('ReservationsLeftPending', story(30, () => [age(4.9)]))).toBe(false);
    expect(firesAtEnd('ReservationsLeftPending', story(30, (second) => [age(second === 25 ? 0 : 60)]))).toBe(false);
  });

  test.each<readonly [string, Sample, Sample]>([
    ['RedisStockNegative', sample('redis_stock_value', -1), sample('redis_stock_value', 0)],
    ['InventoryNotConserved', sample('inventory_conservation_delta', -1), sample('inventory_conservation_delta', 0)],
    ['OutboxDead', sample('outbox_event_count', 1, { status: 'dead' }), sample('outbox_event_count', 9, { status: 'pending' })],
    ['ReservationNeedsHuman', sample('reservation_manual_required', 1), sample('reservation_manual_required', 0)],
    ['DeadLetters', sample('dead_letters_open', 2), sample('dead_letters_open', 0)],
    ['BreakerOpen', sample('seckill_broker_breaker_open', 1), sample('seckill_broker_breaker_open', 0.5)],
    ['AdmissionClosed', sample('seckill_admission_open', 0), sample('seckill_admission_open', 0.5)],
    ['OldMessages', sample('oldest_message_age', 11, { role: 'consumer' }), sample('oldest_message_age', 10, { role: 'consumer' })],
    ['SendsFail', sample('message_send_success_rate', 0.5, { role: 'gateway', topic: 'orders' }), sample('message_send_success_rate', 1, { role: 'gateway', topic: 'orders' })],
  ])('%s', (name, wrong, right) => {
    const { for: hold } = alert(name);
    const seconds = Math.ceil(durationMs(hold) / 5_000) * 5 + 5;
    expect(firesAtEnd(name, story(seconds, () => [wrong]))).toBe(true);
    expect(firesAtEnd(name, story(seconds, () => [right]))).toBe(false);
  });
});

/**
 * Evaluates alert expressions over a few scrapes, as Prometheus would: a target that does not answer has no samples in that scrape (its series
 * are stale at once), and a function over time still sees its older ones. Counter resets, interpolation and quantiles are not needed and not there.
 */
import { durationMs, readExpression, type Matcher, type PromNode } from './prom-expression.js';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  readonly atMs: number;
  readonly samples: readonly Sample[];
}

type Vector = readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
type Value = number | Vector;

const COMPARE: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '==': (left, right) => left === right, '!=': (left, right) => left !== right, '>': (left, right) => left > right,
  '<': (left, right) => left < right, '>=': (left, right) => left >= right, '<=': (left, right) => left <= right,
};
const COMPUTE: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right, '-': (left, right) => left - right, '*': (left, right) => left * right, '/': (left, right) => left / right,
};

/** Prometheus text → samples. Histogram buckets and sums are samples of their own names. */
export function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(.*)\})? ([^ ]+)$/.exec(line);
    if (match === null) return [];
    const [, name = '', labels = '', value = ''] = match;
    return [{ name, labels: Object.fromEntries([...labels.matchAll(/([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text])), value: Number(value.replace('Inf', 'Infinity')) }];
  });
}

function matches({ label, operator, value }: Matcher, labels: Readonly<Record<string, string>>): boolean {
  const own = labels[label] ?? '';
  const holds = operator.endsWith('~') ? new RegExp(`^(?:${value})$`).test(own) : own === value;
  return operator.startsWith('!') ? !holds : holds;
}

function keyOf(labels: Readonly<Record<string, string>>, by: readonly string[] = Object.keys(labels).sort()): string {
  return JSON.stringify(by.map((label) => [label, labels[label] ?? '']));
}

class Evaluation {
  readonly #history: readonly Scrape[];
  readonly #nowMs: number;

  constructor(history: readonly Scrape[], nowMs: number) {
    this.#history = history.filter(({ atMs }) => atMs <= nowMs);
    this.#nowMs = nowMs;
  }

  of(node: PromNode): Value {
    switch (node.kind) {
      case 'number':
        return node.value;
      case 'selector':
        return this.#samples(this.#history.slice(-1), node).map(({ labels, value }) => ({ labels, value }));
      case 'aggregate':
        return this.#aggregate(node.name, node.by, this.#vector(node.argument));
      case 'call':
        return this.#call(node.name, node.args);
      case 'binary':
        return this.#binary(node.operator, this.of(node.left), this.of(node.right));
    }
  }

  #vector(node: PromNode): Vector {
    const value = this.of(node);
    if (typeof value === 'number') throw new Error('a vector was expected');
    return value;
  }

  #samples(scrapes: readonly Scrape[], { metric, matchers }: Extract<PromNode, { kind: 'selector' }>): Sample[] {
    return scrapes.flatMap(({ samples }) => samples.filter(({ name, labels }) => name === metric && matchers.every((matcher) => matches(matcher, labels))));
  }

  #aggregate(name: string, by: readonly string[], vector: Vector): Vector {
    const groups = new Map<string, { labels: Record<string, string>; values: number[] }>();
    for (const { labels, value } of vector) {
      const key = keyOf(labels, by);
      const group = groups.get(key) ?? { labels: Object.fromEntries(by.map((label) => [label, labels[label] ?? ''])), values: [] };
      group.values.push(value);
      groups.set(key, group);
    }
    const fold = { max: (values: number[]) => Math.max(...values), min: (values: number[]) => Math.min(...values), sum: (values: number[]) => values.reduce((sum, value) => sum + value, 0), count: (values: number[]) => values.length }[name];
    if (fold === undefined) throw new Error(`${name} is not evaluated here`);
    return [...groups.values()].map(({ labels, values }) => ({ labels, value: fold(values) }));
  }

  #call(name: string, args: readonly PromNode[]): Value {
    const [first] = args;
    if (name === 'time') return this.#nowMs / 1_000;
    if (first === undefined) throw new Error(`${name} without argument`);
    if (name === 'abs') return this.#vector(first).map(({ labels, value }) => ({ labels, value: Math.abs(value) }));
    if (name === 'absent') return this.#vector(first).length === 0 ? [{ labels: {}, value: 1 }] : [];
    const fold = {
      max_over_time: (values: number[]) => Math.max(...values),
      min_over_time: (values: number[]) => Math.min(...values),
      delta: (values: number[]) => (values.at(-1) ?? 0) - (values[0] ?? 0),
      increase: (values: number[]) => (values.at(-1) ?? 0) - (values[0] ?? 0),
    }[name];
    if (fold === undefined || first.kind !== 'selector' || first.rangeMs === null) throw new Error(`${name} is not evaluated here`);
    const { rangeMs } = first;
    const series = new Map<string, { labels: Readonly<Record<string, string>>; values: number[] }>();
    for (const { labels, value } of this.#samples(this.#history.filter(({ atMs }) => atMs >= this.#nowMs - rangeMs), first)) {
      const known = series.get(keyOf(labels));
      if (known === undefined) series.set(keyOf(labels), { labels, values: [value] });
      else known.values.push(value);
    }
    return [...series.values()].map(({ labels, values }) => ({ labels, value: fold(values) }));
  }

  #binary(operator: string, left: Value, right: Value): Value {
    const compare = COMPARE[operator];
    const compute = COMPUTE[operator];
    const apply = (one: number, other: number): number | null => (compare === undefined ? (compute?.(one, other) ?? null) : compare(one, other) ? one : null);
    if (typeof left === 'number' && typeof right === 'number') return apply(left, right) ?? Number.NaN;
    if (operator === 'or' && typeof left !== 'number' && typeof right !== 'number') return [...left, ...right.filter(({ labels }) => !left.some((own) => keyOf(own.labels) === keyOf(labels)))];
    if (typeof left !== 'number' && typeof right !== 'number') {
      return left.flatMap(({ labels, value }) => {
        const partner = right.find((other) => keyOf(other.labels) === keyOf(labels));
        const result = partner === undefined ? null : apply(value, partner.value);
        return result === null ? [] : [{ labels, value: result }];
      });
    }
    const vector = typeof left === 'number' ? (right as Vector) : left;
    return vector.flatMap(({ labels, value }) => {
      const result = typeof left === 'number' ? apply(left, value) : apply(value, right as number);
      // A comparison keeps the value of the vector's side.
      return result === null ? [] : [{ labels, value: compare === undefined ? result : value }];
    });
  }
}

/** What the expression yields at `nowMs`; an alert is pending as long as this is not empty. */
export function evaluate(expression: string, history: readonly Scrape[], nowMs: number): Vector {
  const value = new Evaluation(history, nowMs).of(readExpression(expression));
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}

/** Fires: the expression yielded something at each of the scrapes of the last `forText`. */
export function fires(rule: { readonly expr: string; readonly for: string }, history: readonly Scrape[], nowMs: number): boolean {
  const since = nowMs - durationMs(rule.for);
  const looks = [...history.map(({ atMs }) => atMs).filter((atMs) => atMs > since && atMs <= nowMs), nowMs];
  const coversAll = rule.for === '0s' || history.some(({ atMs }) => atMs <= since);
  return coversAll && looks.every((atMs) => evaluate(rule.expr, history, atMs).length > 0);
}

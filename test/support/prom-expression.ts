/** PromQL as far as the alerts of `ops/` need it: read strictly, with the types of its parts, so that a slip is an error of the test. */

export type PromType = 'scalar' | 'vector' | 'range';

export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

export type PromNode =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'selector'; readonly metric: string; readonly matchers: readonly Matcher[]; readonly rangeMs: number | null }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly PromNode[] }
  | { readonly kind: 'aggregate'; readonly name: string; readonly by: readonly string[]; readonly argument: PromNode }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: PromNode; readonly right: PromNode };

/** Functions and the types of their arguments and result. */
const FUNCTIONS: Readonly<Record<string, { readonly takes: readonly PromType[]; readonly gives: PromType }>> = {
  time: { takes: [], gives: 'scalar' },
  abs: { takes: ['vector'], gives: 'vector' },
  absent: { takes: ['vector'], gives: 'vector' },
  rate: { takes: ['range'], gives: 'vector' },
  increase: { takes: ['range'], gives: 'vector' },
  delta: { takes: ['range'], gives: 'vector' },
  max_over_time: { takes: ['range'], gives: 'vector' },
  min_over_time: { takes: ['range'], gives: 'vector' },
  histogram_quantile: { takes: ['scalar', 'vector'], gives: 'vector' },
};
const AGGREGATES: readonly string[] = ['max', 'min', 'sum', 'count'];
/** Loosest first. */
const BINARY: readonly (readonly string[])[] = [['or'], ['and', 'unless'], ['==', '!=', '>', '<', '>=', '<='], ['+', '-'], ['*', '/']];
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const TOKEN = /\s*(?:(\d+(?:\.\d+)?(?:[smhd])?)|([A-Za-z_:][A-Za-z0-9_:]*)|("(?:[^"\\]|\\.)*")|(==|!=|>=|<=|=~|!~|[-+*/<>=(){}[\],]))/y;

/** `10s`, `5m`; throws for anything else. */
export function durationMs(text: string): number {
  const match = /^(\d+)([smhd])$/.exec(text);
  if (match === null) throw new Error(`${JSON.stringify(text)} is no duration`);
  return Number(match[1]) * (UNITS_MS[match[2] ?? ''] ?? Number.NaN);
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < end; ) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`cannot read ${JSON.stringify(text.slice(at, at + 20))}`);
    tokens.push(match[0].trim());
  }
  return tokens;
}

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  whole(): PromNode {
    const node = this.#binary(0);
    if (this.#peek() !== undefined) throw new Error(`${JSON.stringify(this.#peek())} is left over`);
    return node;
  }

  #peek(): string | undefined {
    return this.#tokens[this.#at];
  }

  #take(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new Error('ends too early');
    this.#at += 1;
    return token;
  }

  #expect(token: string): void {
    const found = this.#take();
    if (found !== token) throw new Error(`${JSON.stringify(token)} expected, not ${JSON.stringify(found)}`);
  }

  #accept(token: string): boolean {
    if (this.#peek() !== token) return false;
    this.#at += 1;
    return true;
  }

  #binary(level: number): PromNode {
    const operators = BINARY[level];
    if (operators === undefined) return this.#primary();
    let left = this.#binary(level + 1);
    for (let operator = this.#peek(); operator !== undefined && operators.includes(operator); operator = this.#peek()) {
      this.#at += 1;
      left = { kind: 'binary', operator, left, right: this.#binary(level + 1) };
    }
    return left;
  }

  #primary(): PromNode {
    const token = this.#take();
    if (token === '(') {
      const inner = this.#binary(0);
      this.#expect(')');
      return inner;
    }
    if (token === '-') return { kind: 'binary', operator: '-', left: { kind: 'number', value: 0 }, right: this.#primary() };
    if (/^\d+(\.\d+)?$/.test(token)) return { kind: 'number', value: Number(token) };
    if (!/^[A-Za-z_:]/.test(token)) throw new Error(`${JSON.stringify(token)} is out of place`);
    if (AGGREGATES.includes(token)) return this.#aggregate(token);
    if (this.#peek() === '(') {
      if (!Object.hasOwn(FUNCTIONS, token)) throw new Error(`no function ${token}`);
      return { kind: 'call', name: token, args: this.#arguments() };
    }
    return this.#selector(token);
  }

  #arguments(): PromNode[] {
    this.#expect('(');
    const args: PromNode[] = [];
    while (!this.#accept(')')) {
      if (args.length > 0) this.#expect(',');
      args.push(this.#binary(0));
    }
    return args;
  }

  #aggregate(name: string): PromNode {
    const by: string[] = [];
    if (this.#accept('by')) {
      this.#expect('(');
      while (!this.#accept(')')) {
        if (by.length > 0) this.#expect(',');
        by.push(this.#take());
      }
    }
    const args = this.#arguments();
    const [argument] = args;
    if (argument === undefined || args.length !== 1) throw new Error(`${name} takes one argument`);
    return { kind: 'aggregate', name, by, argument };
  }

  #selector(metric: string): PromNode {
    const matchers: Matcher[] = [];
    if (this.#accept('{')) {
      while (!this.#accept('}')) {
        if (matchers.length > 0) this.#expect(',');
        const label = this.#take();
        const operator = this.#take();
        const value = this.#take();
        if (operator !== '=' && operator !== '!=' && operator !== '=~' && operator !== '!~') throw new Error(`${operator} is no matcher`);
        if (!value.startsWith('"')) throw new Error(`${value} is no string`);
        matchers.push({ label, operator, value: JSON.parse(value) as string });
      }
    }
    let rangeMs: number | null = null;
    if (this.#accept('[')) {
      rangeMs = durationMs(this.#take());
      this.#expect(']');
    }
    return { kind: 'selector', metric, matchers, rangeMs };
  }
}

/** Type of a node; throws where Prometheus would refuse it. */
export function typeOf(node: PromNode): PromType {
  switch (node.kind) {
    case 'number':
      return 'scalar';
    case 'selector':
      return node.rangeMs === null ? 'vector' : 'range';
    case 'aggregate':
      if (typeOf(node.argument) !== 'vector') throw new Error(`${node.name} aggregates a vector`);
      return 'vector';
    case 'call': {
      const signature = FUNCTIONS[node.name];
      const given = node.args.map(typeOf);
      if (signature?.takes.join() !== given.join()) throw new Error(`${node.name} takes (${signature?.takes.join(', ') ?? ''}), not (${given.join(', ')})`);
      return signature.gives;
    }
    case 'binary': {
      const [left, right] = [typeOf(node.left), typeOf(node.right)];
      if (left === 'range' || right === 'range') throw new Error(`${node.operator} takes no range`);
      if (['or', 'and', 'unless'].includes(node.operator) && (left === 'scalar' || right === 'scalar')) throw new Error(`${node.operator} takes vectors`);
      return left === 'vector' || right === 'vector' ? 'vector' : 'scalar';
    }
  }
}

/** Reads an expression; throws with the place when it is none. */
export function readExpression(text: string): PromNode {
  const node = new Reader(text).whole();
  typeOf(node);
  return node;
}

/** Every selector in it. */
export function selectorsOf(node: PromNode): Extract<PromNode, { kind: 'selector' }>[] {
  switch (node.kind) {
    case 'number':
      return [];
    case 'selector':
      return [node];
    case 'call':
      return node.args.flatMap(selectorsOf);
    case 'aggregate':
      return selectorsOf(node.argument);
    case 'binary':
      return [...selectorsOf(node.left), ...selectorsOf(node.right)];
  }
}

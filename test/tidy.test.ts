/** Rules of the tree as a test (ARCHITECTURE.md, CONTRIBUTING.md): borders, cycles, sizes, names, headers, orphans. */
import { basename } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

import { filesUnder, functionsOf, importsOf, lineCount, parse, targetOf, textOf, visit, type SourceFile } from './support/source-tree.js';

interface Layer {
  readonly imports: readonly string[];
  readonly types: readonly string[];
  readonly pure?: boolean;
}

const { comment: _comment, ...layers } = JSON.parse(textOf('test/layers.json')) as Record<string, Layer> & { comment: unknown };
const exceptions = JSON.parse(textOf('test/tidy-exceptions.json')) as Record<'files' | 'functions' | 'lua' | 'sql', Record<string, number>>;

const isTestPath = (path: string): boolean => /\.test(-support)?\.tsx?$/.test(path) || path.startsWith('test/');
const sources: readonly SourceFile[] = [...filesUnder('src', ['.ts', '.tsx']), ...filesUnder('test', ['.ts', '.tsx'])].map(parse);
const product = sources.filter((file) => !isTestPath(file.path));
const lua = filesUnder('lua', ['.lua']);
const commands = filesUnder('sql/commands', ['.sql']);
const sql = filesUnder('sql', ['.sql']);

/** Entries: they end the process and read its command line. Everybody else returns or throws. */
const ENTRIES = ['src/cli.ts', 'src/system/main.ts', 'src/lab/role-main.ts', 'src/lab/inproc-worker.ts', 'src/load/main.ts', 'src/stack/local/reaper-main.ts', 'src/stack/containers/sweep-main.ts', 'src/bench/main.ts'];

/** `src/lab/settle.ts` → `lab`; null for a file directly in `src/`. */
const layerOf = (path: string): string | null => /^src\/([^/]+)\//.exec(path)?.[1] ?? null;

function borderProblem(file: SourceFile, specifier: string, typeOnly: boolean): string | null {
  const from = layerOf(file.path);
  if (from === null) return null;
  const layer = layers[from];
  if (layer === undefined) return `${file.path}: folder src/${from} is not in test/layers.json`;
  const target = targetOf(file.path, specifier);
  if (target === null) return layer.pure === true ? `${file.path} is pure and imports ${specifier}` : null;
  const to = layerOf(target);
  // Exit codes are words that whoever ends or reports a run may say.
  if (to === null) return target === 'src/exit-codes' && ['lab', 'commands', 'report', 'tui', 'bench'].includes(from) ? null : `${file.path} imports ${target}`;
  if (to === from || layer.imports.includes(to) || (typeOnly && layer.types.includes(to))) return null;
  return `${file.path} imports ${typeOnly ? 'a type' : 'code'} from src/${to}`;
}

describe('borders', () => {
  it('no folder imports what it must not', () => {
    const problems = product.flatMap((file) => importsOf(file).map(({ specifier, typeOnly }) => borderProblem(file, specifier, typeOnly)));
    expect(problems.filter((problem) => problem !== null)).toEqual([]);
  });

  it('the table itself has no cycle, types aside', () => {
    const depth = (name: string, path: readonly string[]): number => {
      if (path.includes(name)) throw new Error(`cycle: ${[...path, name].join(' → ')}`);
      return 1 + Math.max(0, ...(layers[name]?.imports ?? []).map((next) => depth(next, [...path, name])));
    };
    expect(() => { for (const name of Object.keys(layers)) depth(name, []); }).not.toThrow();
  });

  it('catches a wrong import', () => {
    const file = (path: string): SourceFile => ({ path, text: '', syntax: ts.createSourceFile(path, '', ts.ScriptTarget.ES2023) });
    expect(borderProblem(file('src/system/gateway/http.ts'), '../../facts/facts.js', false)).toContain('imports code from src/facts');
    expect(borderProblem(file('src/invariants/a.ts'), 'node:fs', true)).toContain('is pure');
    expect(borderProblem(file('src/report/a.ts'), '../scenarios/scenario.js', true)).toBeNull();
    expect(borderProblem(file('src/report/a.ts'), '../scenarios/scenario.js', false)).toContain('imports code from src/scenarios');
    expect(borderProblem(file('src/lab/a.ts'), '../tui/face.js', true)).toContain('imports a type from src/tui');
  });

  it('there is no cycle among files', () => {
    const paths = new Map(product.map((file) => [file.path.replace(/\.tsx?$/, ''), file]));
    const done = new Set<string>();
    const cycles: string[] = [];
    const walk = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      const file = paths.get(path);
      if (file === undefined || done.has(path) || trail.includes(path)) return;
      for (const { specifier, typeOnly } of importsOf(file)) {
        const target = targetOf(file.path, specifier);
        if (target !== null && !typeOnly) walk(target, [...trail, path]);
      }
      done.add(path);
    };
    for (const path of paths.keys()) walk(path, []);
    expect(cycles).toEqual([]);
  });
});

/** What is above its cap and not excepted at exactly this size, and exceptions without their reason. */
function capProblems(sizes: ReadonlyMap<string, number>, cap: number, allowed: Readonly<Record<string, number>>): string[] {
  const problems: string[] = [];
  for (const [name, size] of sizes) {
    const written = allowed[name];
    if (size > (written ?? cap)) problems.push(`${name} has ${String(size)} lines, cap ${String(written ?? cap)}`);
    else if (written !== undefined && size < written) problems.push(`${name} has shrunk to ${String(size)} lines: write that down, or take it out of the list at ${String(cap)}`);
  }
  for (const name of Object.keys(allowed)) if (!sizes.has(name)) problems.push(`${name} is gone: take it out of the list`);
  return problems;
}

describe('sizes', () => {
  const sizesOf = (paths: readonly string[]): Map<string, number> => new Map(paths.map((path) => [path, lineCount(textOf(path))]));

  it('files have at most 300 lines', () => {
    expect(capProblems(sizesOf(sources.map((file) => file.path)), 300, exceptions.files)).toEqual([]);
  });

  it('functions have at most 60 lines of their own', () => {
    const sizes = new Map<string, number>();
    for (const file of product) for (const { name, lines } of functionsOf(file)) sizes.set(`${file.path}#${name}`, Math.max(lines, sizes.get(`${file.path}#${name}`) ?? 0));
    expect(capProblems(sizes, 60, exceptions.functions)).toEqual([]);
  });

  it('Lua scripts have at most 120 lines, SQL commands at most 40', () => {
    expect(capProblems(sizesOf(lua), 120, exceptions.lua)).toEqual([]);
    expect(capProblems(sizesOf(commands), 40, exceptions.sql)).toEqual([]);
  });

  it('an exception may neither grow, nor stay when it has shrunk, nor outlive its file', () => {
    const sizes = new Map([['a', 310]]);
    expect(capProblems(sizes, 300, {})).toHaveLength(1);
    expect(capProblems(sizes, 300, { a: 310 })).toEqual([]);
    expect(capProblems(sizes, 300, { a: 305 })).toHaveLength(1);
    expect(capProblems(sizes, 300, { a: 320 })).toHaveLength(1);
    expect(capProblems(sizes, 300, { a: 310, b: 400 })).toHaveLength(1);
  });
});

describe('names and headers', () => {
  it('no file is called after nothing', () => {
    const banned = /^(utils?|helpers?|common|misc|types?|index|shared|base|manager)\.tsx?$/;
    expect(product.map((file) => file.path).filter((path) => banned.test(basename(path)) || /\/(utils?|helpers?|common|misc)\//.test(path))).toEqual([]);
  });

  it('file names are kebab-case', () => {
    expect(sources.map((file) => basename(file.path)).filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.tsx?$/.test(name))).toEqual([]);
  });

  it('no file only passes on what others export, but for a registry', () => {
    const isBarrel = (file: SourceFile): boolean => file.syntax.statements.length > 0 && file.syntax.statements.every((statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined);
    expect(product.filter((file) => isBarrel(file) && basename(file.path) !== 'registry.ts').map((file) => file.path)).toEqual([]);
  });

  it('every file opens with what it is for', () => {
    const opens = (file: SourceFile): boolean => (isTestPath(file.path) ? /^(\/\*\*|\/\/ )/ : /^\/\*\*/).test(file.text.replace(/^#!.*\n/, ''));
    expect(sources.filter((file) => !opens(file)).map((file) => file.path)).toEqual([]);
    expect([...lua, ...sql].filter((path) => !textOf(path).startsWith('--'))).toEqual([]);
  });
});

describe('Lua and SQL', () => {
  const code = product.map((file) => file.text).join('\n');
  const isNamed = (name: string): boolean => new RegExp(`(^|[^A-Za-z0-9_])${name}([^A-Za-z0-9_]|$)`).test(code);

  it('every script and statement is used', () => {
    const orphans = [...lua.map((path) => [path, basename(path, '.lua').replace(/-\d+$/, '')] as const), ...sql.filter((path) => !path.startsWith('sql/migrations/')).map((path) => [path, basename(path, '.sql')] as const)];
    expect(orphans.filter(([, name]) => !isNamed(name)).map(([path]) => path)).toEqual([]);
  });

  it('a script’s name ends with its number of keys', () => {
    const problems = lua.filter((path) => {
      const indexes = [...textOf(path).matchAll(/KEYS\[(\d+)\]/g)].map((match) => Number(match[1]));
      return Number(/-(\d+)\.lua$/.exec(path)?.[1] ?? Number.NaN) !== Math.max(0, ...indexes);
    });
    expect(problems).toEqual([]);
  });

  it('a statement’s header names each of its parameters', () => {
    const problems = sql.filter((path) => !path.startsWith('sql/migrations/')).flatMap((path) => {
      const lines = textOf(path).split('\n');
      const from = lines.findIndex((line) => !line.startsWith('--'));
      const header = lines.slice(0, from).join('\n');
      const used = new Set(lines.slice(from).join('\n').match(/\$\d+/g) ?? []);
      return [...used].filter((parameter) => !new RegExp(`\\${parameter}(?!\\d)`).test(header)).map((parameter) => `${path}: ${parameter}`);
    });
    expect(problems).toEqual([]);
  });
});

describe('what must not be written', () => {
  it('only entries end the process or read its command line', () => {
    const problems: string[] = [];
    for (const file of product) {
      visit(file.syntax, (node) => {
        if (ts.isPropertyAccessExpression(node) && node.expression.getText(file.syntax) === 'process' && ['exit', 'argv', 'exitCode'].includes(node.name.text) && !ENTRIES.includes(file.path)) problems.push(`${file.path}: process.${node.name.text}`);
      });
    }
    expect(problems).toEqual([]);
  });

  it('no test is switched off, singled out or retried', () => {
    const problems: string[] = [];
    for (const file of sources.filter(({ path }) => isTestPath(path))) {
      visit(file.syntax, (node) => {
        const isSwitch = ts.isPropertyAccessExpression(node) && ['only', 'skip', 'todo'].includes(node.name.text) && /^(it|test|describe)\b/.test(node.expression.getText(file.syntax));
        const isRetry = ts.isPropertyAssignment(node) && node.name.getText(file.syntax) === 'retry';
        if (isSwitch || isRetry) problems.push(`${file.path}: ${node.getText(file.syntax)}`);
      });
    }
    expect(problems).toEqual([]);
  });

  it('no compiler or linter is silenced without a reason', () => {
    const silenced = /@ts-(ignore|nocheck)|@ts-expect-error\s*$|eslint-disable(?!.* -- \S)/m;
    expect(sources.filter((file) => file.path !== 'test/tidy.test.ts' && silenced.test(file.text)).map((file) => file.path)).toEqual([]);
  });

  it('no unfinished marks, no hosts of package registries, no paths of one machine', () => {
    const marks = /\b(FIXME|XXX|TODO|HACK)\b/;
    const hosts = /https?:\/\/[A-Za-z0-9.-]*(registry|proxy|repo[0-9]*|deb|mirror|packages)\./;
    const machine = /(^|[^A-Za-z0-9_.])\/(work|farm)\//;
    const texts = [...sources.map((file) => file.path), ...lua, ...sql, ...filesUnder('docs', ['.md']), ...filesUnder('scripts', ['.mjs']), ...filesUnder('kafka', ['.xml']), 'README.md', 'README.zh-CN.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
    const problems = texts.filter((path) => path !== 'test/tidy.test.ts').flatMap((path) => {
      const text = textOf(path);
      return [marks, hosts, machine].filter((pattern) => pattern.test(text)).map((pattern) => `${path}: ${pattern.exec(text)?.[0] ?? ''}`);
    });
    expect(problems).toEqual([]);
  });

  it('names are words: no abbreviations but PG, SKU and DLQ', () => {
    const banned = new Set(['cfg', 'ctx', 'msg', 'idx', 'cnt', 'tmp', 'num', 'str', 'arr', 'obj', 'mgr', 'svc', 'cb', 'fn', 'res', 'req', 'opts', 'params']);
    const problems: string[] = [];
    for (const file of product) {
      visit(file.syntax, (node) => {
        if ((ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isFunctionDeclaration(node)) && node.name !== undefined && ts.isIdentifier(node.name) && banned.has(node.name.text)) problems.push(`${file.path}: ${node.name.text}`);
      });
    }
    expect(problems).toEqual([]);
  });
});

/** The tree as the tidy test sees it: files with their text, TypeScript files parsed, imports and function lengths read off the syntax. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Files under a folder of the repository, as paths with `/` from its root, sorted. A folder that is not there has none. */
export function filesUnder(folder: string, suffixes: readonly string[]): string[] {
  let entries;
  try {
    entries = readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true });
  } catch {
    return [];
  }
  return entries
    .filter((entry) => entry.isFile() && suffixes.some((suffix) => entry.name.endsWith(suffix)))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}

export function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length;
}

export interface ImportEdge {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly syntax: ts.SourceFile;
}

export function parse(path: string): SourceFile {
  const text = textOf(path);
  const kind = path.endsWith('.tsx') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  return { path, text, syntax: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, kind) };
}

/** Visits every node, parents first. */
export function visit(node: ts.Node, seen: (node: ts.Node) => void): void {
  seen(node);
  ts.forEachChild(node, (child) => { visit(child, seen); });
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  return clause.name === undefined && named !== undefined && ts.isNamedImports(named) && named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

/** Static imports, re-exports, dynamic `import('…')` and `import('…')` types. */
export function importsOf(file: SourceFile): ImportEdge[] {
  const edges: ImportEdge[] = [];
  visit(file.syntax, (node) => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined && ts.isStringLiteral(node.moduleSpecifier)) {
      edges.push({ specifier: node.moduleSpecifier.text, typeOnly: isTypeOnly(node) });
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [target] = node.arguments;
      if (target !== undefined && ts.isStringLiteralLike(target)) edges.push({ specifier: target.text, typeOnly: false });
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
      edges.push({ specifier: node.argument.literal.text, typeOnly: true });
    }
  });
  return edges;
}

/** The repository path that a relative specifier of a file means, with its TypeScript ending; null for packages and other files. */
export function targetOf(from: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  const plain = join(dirname(from), specifier).replaceAll('\\', '/');
  return plain.endsWith('.js') ? plain.replace(/\.js$/, '') : plain;
}

export interface FunctionSize {
  readonly name: string;
  /** Lines from its first to its last, without those of functions inside it: a factory of small closures is as readable as a class. */
  readonly lines: number;
}

type FunctionWithBody = ts.FunctionLikeDeclaration & { readonly body: ts.Node };

function hasBody(node: ts.Node): node is FunctionWithBody {
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined;
}

/** Outermost functions inside a node. */
function functionsInside(node: ts.Node): FunctionWithBody[] {
  const found: FunctionWithBody[] = [];
  ts.forEachChild(node, (child) => { found.push(...(hasBody(child) ? [child] : functionsInside(child))); });
  return found;
}

/** Every function with its own name, or the name of what it is given to. */
export function functionsOf(file: SourceFile): FunctionSize[] {
  const lineOf = (position: number): number => file.syntax.getLineAndCharacterOfPosition(position).line;
  const span = (node: ts.Node): number => lineOf(node.getEnd()) - lineOf(node.getStart(file.syntax));
  const sizes: FunctionSize[] = [];
  visit(file.syntax, (node) => {
    if (!hasBody(node)) return;
    const lines = functionsInside(node).reduce((left, inner) => left - span(inner), span(node) + 1);
    const named = node.name ?? (ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent) ? node.parent.name : undefined);
    sizes.push({ name: named?.getText(file.syntax) ?? (ts.isConstructorDeclaration(node) ? 'constructor' : 'anonymous'), lines });
  });
  return sizes;
}

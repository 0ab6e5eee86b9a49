/** Every metric that the system's sources name: its type, its meaning and the file it comes from, read off the calls of the recorder. */
import ts from 'typescript';

import { filesUnder, parse, visit, type SourceFile } from './source-tree.js';

export type MetricType = 'counter' | 'gauge' | 'histogram';

export interface MetricSource {
  readonly name: string;
  readonly type: MetricType;
  readonly meaning: string;
  readonly path: string;
  /** Label names as far as the call itself shows them. */
  readonly labels: readonly string[];
}

const TYPES: readonly string[] = ['counter', 'gauge', 'histogram'];

/** The text of a literal, or of a constant of the same file. */
function textOfExpression(file: SourceFile, node: ts.Expression | undefined): string | null {
  if (node === undefined) return null;
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isIdentifier(node)) return null;
  let found: string | null = null;
  visit(file.syntax, (each) => {
    if (ts.isVariableDeclaration(each) && ts.isIdentifier(each.name) && each.name.text === node.text && each.initializer !== undefined && ts.isStringLiteralLike(each.initializer)) found = each.initializer.text;
  });
  return found;
}

/** Label names of an object literal, or of the one that a name or a call of the same file stands for. */
function labelsOfExpression(file: SourceFile, node: ts.Node | undefined): string[] {
  if (node === undefined) return [];
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) return labelsOfExpression(file, node.expression);
  if (ts.isObjectLiteralExpression(node)) {
    return node.properties.flatMap((property) => (ts.isSpreadAssignment(property) ? labelsOfExpression(file, property.expression) : [property.name.getText(file.syntax).replaceAll(/['"]/g, '')]));
  }
  const name = ts.isIdentifier(node) ? node.text : ts.isCallExpression(node) && ts.isIdentifier(node.expression) ? node.expression.text : null;
  if (name === null) return [];
  const labels: string[] = [];
  visit(file.syntax, (each) => {
    if (!ts.isVariableDeclaration(each) || !ts.isIdentifier(each.name) || each.name.text !== name || each.initializer === undefined) return;
    const value = ts.isArrowFunction(each.initializer) ? each.initializer.body : each.initializer;
    labels.push(...labelsOfExpression(file, value));
  });
  return labels.length > 0 || !ts.isIdentifier(node) ? labels : labelsOfParameter(file, node);
}

/** What the callers in the same file hand over for a parameter of this name. */
function labelsOfParameter(file: SourceFile, node: ts.Identifier): string[] {
  const owner = ts.findAncestor(node, (each): each is ts.FunctionDeclaration => ts.isFunctionDeclaration(each) && each.parameters.some(({ name }) => name.getText(file.syntax) === node.text));
  if (owner === undefined) return [];
  const { name, parameters } = owner;
  const place = parameters.findIndex((parameter) => parameter.name.getText(file.syntax) === node.text);
  const labels: string[] = [];
  visit(file.syntax, (each) => {
    if (ts.isCallExpression(each) && ts.isIdentifier(each.expression) && each.expression.text === name?.text) labels.push(...labelsOfExpression(file, each.arguments[place]));
  });
  return labels;
}

/** Calls whose name cannot be read are reported as the name `?`, so that no metric escapes. */
export function metricSources(): MetricSource[] {
  const found: MetricSource[] = [];
  for (const path of filesUnder('src/system', ['.ts'])) {
    if (/\.test(-support)?\.ts$/.test(path) || path === 'src/system/role-metrics.ts') continue;
    const file = parse(path);
    visit(file.syntax, (node) => {
      if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return;
      const { text: type } = node.expression.name;
      if (!TYPES.includes(type) || !/metrics$/i.test(node.expression.expression.getText(file.syntax))) return;
      const [name, meaning, labels] = node.arguments;
      found.push({
        name: textOfExpression(file, name) ?? '?',
        type: type as MetricType,
        meaning: textOfExpression(file, meaning) ?? '?',
        path,
        labels: [...new Set(labelsOfExpression(file, labels))].sort(),
      });
    });
  }
  return found;
}

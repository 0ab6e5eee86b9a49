/**
 * Files as evidence: a file is read whole and checked row by row, or it is missing evidence with the reason. Nothing in between: a file
 * that is gone or cut short must never look like an empty list, because an empty list proves things (DESIGN §7).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Evidence } from '../facts/store-facts.js';

/** What a field holds; a question mark allows null. */
export type FieldKind = 'string' | 'number' | 'boolean' | 'string?' | 'number?' | 'array' | 'object' | 'object?';

/** Wrapped in tuples, so that unions are compared whole and `string | null` is not split. */
type KindOf<Value> = [Value] extends [string] ? 'string'
  : [Value] extends [number] ? 'number'
  : [Value] extends [boolean] ? 'boolean'
  : [Value] extends [string | null] ? 'string?'
  : [Value] extends [number | null] ? 'number?'
  : [Value] extends [readonly unknown[]] ? 'array'
  : [Value] extends [object] ? 'object'
  : 'object?';

/** Fields that a row may lack. */
type Optional<Row> = { [Field in keyof Row]-?: Row extends Record<Field, Row[Field]> ? never : Field }[keyof Row];

/** One kind per field that a row has to have; the compiler refuses a shape that forgets one. */
export type ShapeOf<Row> = { readonly [Field in Exclude<keyof Row, Optional<Row>>]-?: KindOf<Row[Field]> };

export function missing(reason: string): { readonly present: false; readonly reason: string } {
  return { present: false, reason };
}

function fieldFits(kind: FieldKind, value: unknown): boolean {
  switch (kind) {
    case 'string': return typeof value === 'string';
    case 'number': return typeof value === 'number';
    case 'boolean': return typeof value === 'boolean';
    case 'string?': return value === null || typeof value === 'string';
    case 'number?': return value === null || typeof value === 'number';
    case 'array': return Array.isArray(value);
    case 'object': return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'object?': return value === null || (typeof value === 'object' && !Array.isArray(value));
  }
}

/** The first problem of a parsed value against its shape, or null. */
export function shapeProblem(value: unknown, shape: Readonly<Record<string, FieldKind>>): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'is not an object';
  const fields = value as Record<string, unknown>;
  for (const [field, kind] of Object.entries(shape)) {
    if (!Object.hasOwn(fields, field)) return `has no ${field}`;
    if (!fieldFits(kind, fields[field])) return `has a ${field} that is no ${kind.replace('?', ' or null')}`;
  }
  return null;
}

function readProblem(path: string, error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' ? `${path} is missing` : `${path} cannot be read (${code ?? String(error)})`;
}

/** A JSON document of the given shape. The type parameter is what the shape was made from. */
export async function readDocument<Document>(directory: string, path: string, shape: ShapeOf<Document>): Promise<Evidence<Document>> {
  let text: string;
  try {
    text = await readFile(join(directory, path), 'utf8');
  } catch (error) {
    return missing(readProblem(path, error));
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return missing(`${path} is not whole JSON`);
  }
  const problem = shapeProblem(parsed, shape);
  return problem === null ? { present: true, value: parsed as Document } : missing(`${path} ${problem}`);
}

/** Lines of a file as buffers, cut without making one huge string (a commit log may pass V8's longest string). */
function* linesOf(bytes: Buffer): Generator<string> {
  let from = 0;
  while (from < bytes.length) {
    const newline = bytes.indexOf(0x0a, from);
    const to = newline === -1 ? bytes.length : newline;
    yield bytes.toString('utf8', from, to);
    from = to + 1;
  }
}

/** All rows of an NDJSON file. `check` looks deeper than the shape. Blank lines are skipped, since editors leave them behind. */
export async function readRows<Row>(
  directory: string, path: string, shape: ShapeOf<Row>, check: (row: Row) => string | null = () => null,
): Promise<Evidence<readonly Row[]>> {
  let bytes: Buffer;
  try {
    bytes = await readFile(join(directory, path));
  } catch (error) {
    return missing(readProblem(path, error));
  }
  const rows: Row[] = [];
  let lineNumber = 0;
  for (const line of linesOf(bytes)) {
    lineNumber += 1;
    if (line.trim() === '') continue;
    let parsed: unknown;
    try {
      parsed = JSON.parse(line);
    } catch {
      return missing(`${path} line ${String(lineNumber)} is not whole JSON`);
    }
    const problem = shapeProblem(parsed, shape) ?? check(parsed as Row);
    if (problem !== null) return missing(`${path} line ${String(lineNumber)} ${problem}`);
    rows.push(parsed as Row);
  }
  return { present: true, value: rows };
}

type ValueOf<Piece> = Extract<Piece, { readonly present: true; readonly value: unknown }>['value'];

/** One piece of evidence out of several: present when all are, else missing for all their reasons. */
export function together<Pieces extends Readonly<Record<string, Evidence<unknown>>>>(
  pieces: Pieces,
): Evidence<{ [Name in keyof Pieces]: ValueOf<Pieces[Name]> }> {
  const reasons: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, piece] of Object.entries(pieces)) {
    if (piece.present) values[name] = piece.value;
    else reasons.push(piece.reason);
  }
  if (reasons.length > 0) return missing(reasons.join('; '));
  return { present: true, value: values as { [Name in keyof Pieces]: ValueOf<Pieces[Name]> } };
}

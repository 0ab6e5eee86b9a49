/** Reads the wrong scripts and statements: `lua/mutants/<name>-<keys>.lua`, `sql/mutants/<name>.sql`. This file lies as deep under `src/` as under `dist/`. */
import { readFileSync, readdirSync } from 'node:fs';

import { parseScriptFileName } from '../system/stock/script-loader.js';

const LUA = new URL('../../lua/mutants/', import.meta.url);
const SQL = new URL('../../sql/mutants/', import.meta.url);

/** Throws when there is no such script: the package is broken then. */
export function wrongScript(name: string): string {
  const file = readdirSync(LUA).find((candidate) => parseScriptFileName(candidate)?.name === name);
  if (file === undefined) throw new Error(`no script ${name}-<keys>.lua in lua/mutants`);
  return readFileSync(new URL(file, LUA), 'utf8');
}

/** Throws when there is no such statement: the package is broken then. */
export function wrongStatement(name: string): string {
  return readFileSync(new URL(`${name}.sql`, SQL), 'utf8');
}

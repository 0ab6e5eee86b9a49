/**
 * Reads the Lua scripts. They live in `lua/` of the package root, named `verb_noun-<number of KEYS>.lua`; this file lies as deep under
 * `src/` as under `dist/`, so one relative address serves the sources, the build and an installed package.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const SCRIPT_NAMES = [
  'reserve_batch', 'mark_sent', 'claim_pending', 'apply_projection', 'warm_up',
  'adjust_record', 'rebuild_begin', 'rebuild_page', 'rebuild_finish', 'rebuild_release',
  'spend_permits', 'take_holds', 'drop_holds',
] as const;
export type ScriptName = (typeof SCRIPT_NAMES)[number];

export interface Script {
  readonly name: ScriptName;
  readonly numberOfKeys: number;
  readonly source: string;
}

/** The folder of the scripts, with its trailing slash. */
export const LUA_DIRECTORY = fileURLToPath(new URL('../../../lua/', import.meta.url));

const FILE_NAME = /^([a-z]+(?:_[a-z]+)*)-([1-9])\.lua$/;

/** Name and number of keys told by a file name; null when it is not named so. */
export function parseScriptFileName(fileName: string): { readonly name: string; readonly numberOfKeys: number } | null {
  const match = FILE_NAME.exec(fileName);
  return match === null ? null : { name: match[1] ?? '', numberOfKeys: Number(match[2]) };
}

/**
 * Every script of the system, in the order of `SCRIPT_NAMES`. Throws when one is missing: the package is broken then. `replacements` are
 * sources to use instead, for a system that is wrong on purpose.
 */
export function loadScripts(replacements: Partial<Readonly<Record<ScriptName, string>>> = {}): readonly Script[] {
  const files = readdirSync(LUA_DIRECTORY);
  return SCRIPT_NAMES.map((name) => {
    const file = files.find((candidate) => parseScriptFileName(candidate)?.name === name);
    const numberOfKeys = file === undefined ? undefined : parseScriptFileName(file)?.numberOfKeys;
    if (file === undefined || numberOfKeys === undefined) throw new Error(`no script ${name}-<keys>.lua in ${LUA_DIRECTORY}`);
    return { name, numberOfKeys, source: replacements[name] ?? readFileSync(`${LUA_DIRECTORY}${file}`, 'utf8') };
  });
}

/** What code a role runs: one digest over compiled code, Lua and SQL. An image of the roles carries it, so that a stale one is never taken for this lab's. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const CODE_LABEL = 'seckill-lab.code';

/** Folders that decide what a role does, below the root of the package. */
const CODE = ['dist', 'lua', 'sql'];

/** @param root of the package. Some 10 ms. */
export function codeDigest(root: string): string {
  const hash = createHash('sha256');
  for (const file of CODE.flatMap((folder) => filesIn(join(root, folder))).sort()) hash.update(`${relative(root, file)}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

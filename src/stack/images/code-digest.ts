/** What code a role runs: one digest over compiled code, Lua, SQL and the list of packages with their versions. An image of the roles carries it, so that a stale one is never taken for this lab's. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const CODE_LABEL = 'seckill-lab.code';

/** Folders that decide what a role does, below the root of the package. */
const CODE = ['dist', 'lua', 'sql'];
/** Names every package with its content. Only a checkout has it, and only from one is an image made. */
const PACKAGES = 'package-lock.json';

/** @param root of the package. Some 10 ms. */
export function codeDigest(root: string): string {
  const hash = createHash('sha256');
  const files = [...CODE.flatMap((folder) => filesIn(join(root, folder))), ...(existsSync(join(root, PACKAGES)) ? [join(root, PACKAGES)] : [])];
  for (const file of files.sort()) hash.update(`${relative(root, file)}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

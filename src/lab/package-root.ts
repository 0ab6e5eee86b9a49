/** The folder of the package (where lua/, sql/ and package.json are), from src/, from dist/ and from an installed tarball alike. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('package.json not found above the lab');
    folder = parent;
  }
  return folder;
}

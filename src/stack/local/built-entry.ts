/** Where a compiled entry of this package lies, also when the caller runs from the sources (tests do). */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { LabError } from '../../facts/lab-error.js';

/** Root of the package: the folder of package.json, from `dist/stack/local` and from `src/stack/local` alike. */
export const packageRoot = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** @param path below `dist/`, such as `stack/local/reaper-main.js`. LabError INSTALL_FAILED when it was never built. */
export function builtEntry(path: string): string {
  const here = fileURLToPath(import.meta.url);
  // Compiled code finds its own neighbours, wherever it was compiled to; the sources have only dist/.
  const entry = here.endsWith('.ts') ? join(packageRoot, 'dist', path) : join(dirname(here), '..', '..', path);
  if (!existsSync(entry)) throw new LabError('INSTALL_FAILED', `${path} has not been built`, 'npm run build');
  return entry;
}

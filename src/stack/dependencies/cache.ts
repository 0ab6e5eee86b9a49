/** The cache folder. */
import { cacheProblem } from '../cache-folder.js';
import { found, missing, nothingToFetch } from './dependency.js';
import type { Dependency } from './dependency.js';

export const cache: Dependency = {
  name: 'cache folder',
  look: (folder) => {
    const problem = cacheProblem(folder);
    return problem === null ? found(folder) : missing(problem, 'set SECKILL_LAB_CACHE to a folder that can be written');
  },
  lackingPackages: () => [],
  fetch: nothingToFetch,
};

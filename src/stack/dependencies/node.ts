/** Node.js itself. */
import { found, missing, nothingToFetch } from './dependency.js';
import type { Dependency } from './dependency.js';

const MINIMAL_NODE = 20;

export const node: Dependency = {
  name: 'node',
  look: () => {
    const major = Number(process.versions.node.split('.')[0]);
    const text = `Node.js ${process.versions.node}`;
    return major >= MINIMAL_NODE ? found(text) : missing(`${text} is too old`, `install Node.js ${String(MINIMAL_NODE)} or later`);
  },
  lackingPackages: () => [],
  fetch: nothingToFetch,
};

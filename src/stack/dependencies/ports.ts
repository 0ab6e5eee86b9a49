/** A free block of ports. */
import { takePortBlock } from '../local/port-block.js';
import { portsNeeded } from '../local/port-plan.js';
import { found, missing, nothingToFetch } from './dependency.js';
import type { Dependency } from './dependency.js';

export const ports: Dependency = {
  name: 'ports',
  look: async () => {
    const block = await takePortBlock(portsNeeded(1), null);
    if (block === null) return missing('no block of free ports below the ephemeral range', 'npx seckill-lab down, or end what holds ports 10240 to 32767');
    await new Promise((resolve) => block.sentinel.close(resolve));
    return found('a block of free ports below the ephemeral range');
  },
  lackingPackages: () => [],
  fetch: nothingToFetch,
};

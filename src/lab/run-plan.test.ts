// What a manifest holds of what ran.
import { expect, it } from 'vitest';

import type { StackDescription } from '../facts/stack-description.js';
import { manifestStack } from './run-plan.js';

it('names image, content and digest of every server in a container, and where the roles ran', () => {
  const image = { image: 'redis:7.0.15', imageId: 'sha256:ab', digest: 'redis@sha256:cd' };
  const servers = {
    'redis-primary': { name: 'redis-primary', version: '7.0.15', container: { id: 'c1', ...image } },
    toxiproxy: { name: 'toxiproxy', version: '2.12.0' },
  };
  const stack = { provider: 'containers', servers } as unknown as StackDescription;
  const roles = { home: 'containers', image: 'seckill-lab/roles:latest', imageId: 'sha256:ef', digest: null } as const;
  expect(manifestStack(stack, roles)).toEqual({ provider: 'containers', servers: { 'redis-primary': { version: '7.0.15', ...image }, toxiproxy: { version: '2.12.0' } }, roles });
});

/** compose.yaml: the same servers on the same images as the lab's own stack, each with a health check; by `docker compose config` where that exists. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

import { SERVER_NAMES } from '../src/facts/stack-description.js';
import { OFFICIAL_IMAGES, STAND_IN_IMAGES } from '../src/stack/containers/image-choice.js';
import { ROOT, textOf } from './support/source-tree.js';

const service = z.strictObject({
  image: z.string(),
  build: z.string().optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/)).optional(),
  healthcheck: z.strictObject({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.number() }).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  profiles: z.array(z.string()).optional(),
  network_mode: z.literal('host').optional(),
});
const compose = z.strictObject({ name: z.literal('seckill-lab'), services: z.record(z.string(), service) }).parse(parse(textOf('compose.yaml')));

it('has every server of a stack, and the role image', () => {
  expect(Object.keys(compose.services).sort()).toEqual([...SERVER_NAMES, 'role'].sort());
});

it('names the images that the lab is pinned to', () => {
  const defaults = Object.values(compose.services).map(({ image }) => /:-(.+)\}$/.exec(image)?.[1]);
  expect(new Set(defaults)).toEqual(new Set([...Object.values(OFFICIAL_IMAGES), STAND_IN_IMAGES.roles]));
});

it('waits only for what has a health check', () => {
  for (const { depends_on: waits } of Object.values(compose.services)) {
    for (const name of Object.keys(waits ?? {})) expect(compose.services[name]?.healthcheck, name).toBeDefined();
  }
});

it.runIf(spawnSync('docker', ['compose', 'version']).status === 0)('is accepted by docker compose config', () => {
  const checked = spawnSync('docker', ['compose', '-f', 'compose.yaml', '--profile', 'roles', 'config', '--quiet'], { cwd: ROOT, encoding: 'utf8' });
  expect({ status: checked.status, stderr: checked.stderr }).toMatchObject({ status: 0 });
});

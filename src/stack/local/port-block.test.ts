// Blocks of ports: below the ephemeral range, one holder each.
import { expect, it } from 'vitest';

import { blockStarts, PORTS_PER_BLOCK, takePortBlock } from './port-block.js';

it('lies below the ephemeral range, whatever that is', () => {
  for (const start of [32_768, 20_000, 49_152]) {
    expect(Math.max(...blockStarts(start)) + PORTS_PER_BLOCK).toBeLessThanOrEqual(Math.min(start, 32_768));
  }
  expect(blockStarts(1_024).length).toBeGreaterThan(10); // no room below: the usual range
});

it('is held by one at a time and free again afterwards', async () => {
  const block = await takePortBlock(100, null);
  const { port } = block!.sentinel.address() as { port: number };
  expect(block!.ports.length).toBe(100);
  expect(Math.min(...block!.ports)).toBeGreaterThan(port);
  expect(await takePortBlock(100, port)).toBeNull();
  await new Promise((resolve) => block!.sentinel.close(resolve));
  const again = await takePortBlock(100, port);
  expect(again).not.toBeNull();
  await new Promise((resolve) => again!.sentinel.close(resolve));
});

it('refuses a block with too few free ports and frees its sentinel', async () => {
  const block = await takePortBlock(1, null);
  const { port } = block!.sentinel.address() as { port: number };
  await new Promise((resolve) => block!.sentinel.close(resolve));
  expect(await takePortBlock(PORTS_PER_BLOCK, port)).toBeNull(); // one of them is the sentinel
  const again = await takePortBlock(1, port);
  expect(again).not.toBeNull();
  await new Promise((resolve) => again!.sentinel.close(resolve));
});

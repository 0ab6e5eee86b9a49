/** UUIDs of version 7 with their random bits from a pool: asking the kernel for sixteen bytes at a time was the largest part of making an id. */
import { randomFillSync } from 'node:crypto';

import { v7 } from 'uuid';

const ID_RANDOM_BYTES = 16;
const POOL_IDS = 1_024;
const pool = new Uint8Array(ID_RANDOM_BYTES * POOL_IDS);
let next = POOL_IDS;

export function freshId(): string {
  if (next === POOL_IDS) {
    randomFillSync(pool);
    next = 0;
  }
  const at = next * ID_RANDOM_BYTES;
  next += 1;
  return v7({ random: pool.subarray(at, at + ID_RANDOM_BYTES) });
}

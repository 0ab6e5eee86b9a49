/** Random bits of ids from a pool: asking the kernel for sixteen bytes at a time was the largest part of making an id. */
import { randomFillSync } from 'node:crypto';

import { v7 } from 'uuid';

const ID_RANDOM_BYTES = 16;
const POOL_BYTES = ID_RANDOM_BYTES * 1_024;

const pool = Buffer.alloc(POOL_BYTES);
let next = POOL_BYTES;

/** Where so many random bytes lie in the pool that nobody has had. */
function take(bytes: number): number {
  if (next + bytes > POOL_BYTES) {
    randomFillSync(pool);
    next = 0;
  }
  const at = next;
  next += bytes;
  return at;
}

/** A UUID of version 7. */
export function freshId(): string {
  const at = take(ID_RANDOM_BYTES);
  return v7({ random: pool.subarray(at, at + ID_RANDOM_BYTES) });
}

/** Random bytes, at most 1,024, as hex digits. */
export function randomHex(bytes: number): string {
  const at = take(bytes);
  return pool.toString('hex', at, at + bytes);
}

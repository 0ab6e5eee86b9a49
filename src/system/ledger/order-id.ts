/**
 * Time-ordered int8 ids made without a round trip (paper 001 §8.3): 41 bits of milliseconds, 10 bits of worker, 12 bits of sequence.
 * They pass 2^53, so they are decimal strings everywhere outside of PostgreSQL.
 */
import type { Clock } from '../../domain/clock.js';
import { ROLE_NAMES, roleOfInstance, type RoleInstance } from '../../domain/roles.js';
import { randomHex } from '../fresh-id.js';

/** 2020-01-01T00:00:00Z: early enough that every id is above 2^53, late enough that 41 bits last until 2089. */
const EPOCH_MS = 1_577_836_800_000;
const SEQUENCE_BITS = 12n;
const WORKER_BITS = 10n;
const SEQUENCE_LIMIT = 4096;

export interface IdSource {
  /** Greater than every id this source gave before. */
  next(): string;
}

/** A number of 0…1023 that no other instance of the same run has: 4 bits of role, 6 bits of instance. */
export function workerNumber(instance: RoleInstance): number {
  const role = roleOfInstance(instance);
  const number = Number(instance.slice(role.length + 1));
  return (ROLE_NAMES.indexOf(role) << 6) | (number & 63);
}

/** A clock that goes back, or more than 4096 ids a millisecond, borrow from the next millisecond: ids never go back. */
export function createIdSource(instance: RoleInstance, clock: Clock): IdSource {
  const worker = BigInt(workerNumber(instance));
  let lastMs = 0;
  let sequence = 0;
  return {
    next() {
      const nowMs = clock.nowMs();
      if (nowMs > lastMs) {
        lastMs = nowMs;
        sequence = 0;
      } else if (++sequence === SEQUENCE_LIMIT) {
        lastMs += 1;
        sequence = 0;
      }
      return ((BigInt(lastMs - EPOCH_MS) << (WORKER_BITS + SEQUENCE_BITS)) | (worker << SEQUENCE_BITS) | BigInt(sequence)).toString();
    },
  };
}

/** What a customer sees: time first so that the index grows at one end, then 60 random bits so that numbers cannot be counted. */
export function createOrderNumber(clock: Clock): string {
  return `SK${clock.nowMs().toString(36)}${randomHex(8)}`.toUpperCase();
}

/**
 * The requests that this gateway knows to be accepted, or that may be: their repeats pass every layer, since they take nothing new and their answer is
 * owed. Small: one entry per unit sold here.
 */
import type { RequestId, UserId } from '../../../domain/ids.js';
import type { ValidReservation } from '../validate.js';
import { PresenceFilter } from './presence-filter.js';

export interface KnownRequests {
  add(skuId: string, requestId: RequestId, userId: UserId): void;
  has(request: Pick<ValidReservation, 'sku' | 'requestId' | 'userId'>): boolean;
  /** False: no request of this hash (`presence-filter.ts`) is known, of whatever SKU. */
  mayHave(requestHash: number): boolean;
}

/** A SKU with more units than this loses the privilege for its later winners, not their correctness: Redis still knows them. */
const ENTRIES_MAX = 2_000_000;

export function createKnownRequests(entriesMax = ENTRIES_MAX): KnownRequests {
  const owners = new Map<string, Map<RequestId, UserId>>();
  const filter = new PresenceFilter();
  let entries = 0;
  return {
    add(skuId, requestId, userId) {
      if (entries >= entriesMax) return;
      let ofSku = owners.get(skuId);
      if (ofSku === undefined) owners.set(skuId, (ofSku = new Map<RequestId, UserId>()));
      if (!ofSku.has(requestId)) entries += 1;
      ofSku.set(requestId, userId);
      filter.add(requestId);
    },
    mayHave: (requestHash) => filter.mayHoldHash(requestHash),
    has: ({ sku, requestId, userId }) => filter.mayHold(requestId) && owners.get(sku.skuId)?.get(requestId) === userId,
  };
}

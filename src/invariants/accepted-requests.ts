/** Every request that got a reservation, by whichever of clients, Redis, the topic and PostgreSQL knows of it, and when it was reserved. */
import type { Facts } from '../facts/facts.js';
import { acceptancesOf } from './acceptances.js';
import { kafkaOf, postgresOf, redisOf } from './indexes.js';
import { rememberedPerFacts } from './remembered.js';

export interface AcceptedRequest {
  readonly requestId: string;
  readonly userId: string;
  readonly reservationId: string | null;
  /** By the gateway's clock, milliseconds since the epoch; null: only a client knows of it. */
  readonly reservedAtMs: number | null;
}

/** One entry per request id: the first of its reservations that is found. */
export const acceptedRequests: (facts: Facts) => ReadonlyMap<string, AcceptedRequest> = rememberedPerFacts((facts) => {
  const found = new Map<string, AcceptedRequest>();
  const add = (request: AcceptedRequest): void => {
    if (!found.has(request.requestId)) found.set(request.requestId, request);
  };
  for (const { requestId, userId, reservationId, reservedAtMs } of [...redisOf(facts).records, ...kafkaOf(facts).orders]) add({ requestId, userId, reservationId, reservedAtMs });
  for (const { requestId, userId, reservationId } of [...postgresOf(facts).orders, ...postgresOf(facts).reservations]) add({ requestId, userId, reservationId, reservedAtMs: null });
  for (const { requestId, userId, reservationId } of acceptancesOf(facts)) add({ requestId, userId, reservationId, reservedAtMs: null });
  return found;
});

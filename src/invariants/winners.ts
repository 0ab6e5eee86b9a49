/**
 * Who got a reservation, and how long he waited to hear of it: from the intended time of his request's own arrival until the earliest answer of any kind that said so,
 * be it to a repeat or to a poll. Who never heard has waited for ever. The stores say who won, not the answers: a winner whose answer was lost is slow, not nobody.
 */
import type { Facts } from '../facts/facts.js';
import { acceptancesByRequest } from './acceptances.js';
import { acceptedRequests } from './accepted-requests.js';
import { rootOf } from './identity.js';
import { rememberedPerFacts } from './remembered.js';

export interface Winner {
  readonly intendedUs: number;
  /** Infinity: never heard of it. */
  readonly waitedUs: number;
}

/** Requests that no client made (poison) are nobody's. Empty without a history. */
export const winnersOf: (facts: Facts) => readonly Winner[] = rememberedPerFacts((facts) => {
  if (!facts.history.present) return [];
  const { intendedUs } = facts.history.value.columns;
  const told = acceptancesByRequest(facts);
  return [...acceptedRequests(facts).keys()].flatMap((requestId) => {
    const request = rootOf(facts, requestId);
    if (request === null) return [];
    const wanted = intendedUs[request] ?? NaN;
    const heardUs = (told.get(request) ?? []).reduce((earliest, { answeredUs }) => Math.min(earliest, answeredUs), Infinity);
    return [{ intendedUs: wanted, waitedUs: heardUs - wanted }];
  });
});

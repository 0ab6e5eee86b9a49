/**
 * permit-once: a permit lets one request in, on whichever gateway it is shown and however often (papers `000` §10.1, `004` §2). No two requests with a reservation have
 * shown the same nonce, and each had spent its own by the book that the gateways share.
 *
 * Which permit an arrival shows follows from the schedule; the book is Redis's own.
 */
import { nonceAt, permitAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { acceptedRequests, type AcceptedRequest } from './accepted-requests.js';
import { provenLosses } from './excuses.js';
import { rootOf } from './identity.js';
import { planOf, redisOf } from './indexes.js';
import { inShort } from './in-short.js';
import type { Invariant } from './invariant.js';
import { rememberedPerFacts } from './remembered.js';
import { tallyFor, type Tally } from './tally.js';

export const permitOnce: Invariant = {
  name: 'permit-once',
  title: 'A permit lets one in',
  whatItMeans: 'However often and wherever a permit is shown, only the request that showed it first gets in with it.',
  needs: ['history', 'redis', 'kafka', 'postgres', 'faults'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(permitOnce, facts);
    if (facts.run.load.permits === null) {
      tally.notAsked('nobody shows a permit in this run');
      return tally.verdict();
    }
    const byPermit = new Map<number, AcceptedRequest[]>();
    for (const request of acceptedRequests(facts).values()) {
      const root = rootOf(facts, request.requestId);
      // Nobody's request is the business of no-phantom-order.
      if (root === null) continue;
      const permit = permitAt(planOf(facts), root);
      const sharers = byPermit.get(permit);
      if (sharers === undefined) byPermit.set(permit, [request]);
      else sharers.push(request);
    }
    for (const [permit, requests] of byPermit) eachPermit(facts, permit, requests, tally);
    tally.remark(`${String(byPermit.size)} permits let somebody in`);
    return tally.verdict();
  },
};

function eachPermit(facts: Facts, permit: number, requests: readonly AcceptedRequest[], tally: Tally): void {
  tally.check();
  const nonce = nonceAt(facts.run.load, permit);
  const [first] = requests;
  if (first === undefined) return;
  const { requestId, userId, reservationId } = first;
  const subject = { requestId, reservationId };
  if (requests.length > 1) {
    const ids = requests.map((request) => request.requestId);
    tally.violation({ kind: 'permit', id: nonce, severity: requests.length, subject, claim: `Permit ${nonce} let ${String(requests.length)} requests in: ${inShort(ids, 3)}.` });
    return;
  }
  if (!facts.redis.present) return;
  const spentBy = bookOf(facts).get(`${userId} ${nonce}`);
  if (spentBy === requestId) return;
  // A Redis that lost writes has lost pages of its book too.
  if (spentBy === undefined && provenLosses(facts).length > 0) {
    tally.excuse();
    return;
  }
  const why = spentBy === undefined ? 'nobody had spent it' : `it had been spent by request ${spentBy}`;
  tally.violation({ kind: 'permit', id: nonce, subject, claim: `Request ${requestId} got a reservation with permit ${nonce}, and ${why}.` });
}

const bookOf: (facts: Facts) => ReadonlyMap<string, string> = rememberedPerFacts((facts) =>
  new Map(redisOf(facts).permits.map(({ userId, nonce, requestId }) => [`${userId} ${nonce}`, requestId])));

/**
 * permit-once: a permit lets one request in, on whichever gateway it is shown and however often (papers `000` §10.1, `004` §2). No two requests with a reservation have
 * shown the same nonce, and each had spent its own by the book that the gateways share. And it does let that one in: who shows a good permit of his own, which no other
 * request had spent, is not told that it is none.
 *
 * Which permit an arrival shows follows from the schedule; the book is Redis's own.
 */
import { ANSWER_CODES_BY_NUMBER } from '../domain/reason-codes.js';
import { nonceAt, permitAt, requestIdAt, userIdAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { ARRIVAL_OUTCOMES } from '../facts/history.js';
import { ARRIVAL_KINDS, BOT_KINDS, type PermitLoad } from '../facts/load-spec.js';
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
  whatItMeans: 'However often and wherever a permit is shown, only the request that showed it first gets in with it, and that one is not turned away for it.',
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
    goodPermits(facts, facts.run.load.permits, tally);
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

const PERMIT_INVALID = ANSWER_CODES_BY_NUMBER.indexOf('PERMIT_INVALID');
const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');
/** What is malformed is refused before anybody looks at its permit. */
const SHOWS_NO_GOOD_ONE: ReadonlySet<number> = new Set([...BOT_KINDS, 'malformed' as const].map((kind) => ARRIVAL_KINDS.indexOf(kind)));

/** People show a permit of their own: it may be refused only where a bot was faster with it, or when its time is over. */
function goodPermits(facts: Facts, { validForMs }: PermitLoad, tally: Tally): void {
  // Binary items of an edge carry ids alone: there nobody shows what he has.
  const showsNothing = facts.run.load.transport === 'edge' && facts.run.load.edgeForm === 'binary';
  if (!facts.history.present || !facts.redis.present || showsNothing) return;
  const { columns } = facts.history.value;
  const plan = planOf(facts);
  const aheadMs = Math.max(0, ...facts.run.clockSkews.map((skew) => skew.aheadMs));
  // The permits' time counts from about the first arrival on, and is asked of a clock that may be ahead.
  const goodUntilUs = (columns.intendedUs[0] ?? NaN) - (plan.dueUs[0] ?? 0) + (validForMs - aheadMs) * 1_000 - facts.run.clock.boundUs;
  for (let index = 0; index < columns.length; index += 1) {
    if (columns.outcome[index] !== ANSWERED || SHOWS_NO_GOOD_ONE.has(plan.kind[index] ?? -1) || (columns.answeredUs[index] ?? NaN) >= goodUntilUs) continue;
    tally.check();
    if (columns.answerCode[index] !== PERMIT_INVALID) continue;
    const requestId = requestIdAt(facts.run.load, plan, index);
    const userId = userIdAt(plan, index);
    const nonce = nonceAt(facts.run.load, permitAt(plan, index));
    const spentBy = bookOf(facts).get(`${userId} ${nonce}`);
    if (spentBy !== undefined && spentBy !== requestId) continue;
    tally.violation({
      kind: 'request', id: requestId, subject: { requestId, userId },
      claim: `Request ${requestId} showed its own permit ${nonce}, which ${spentBy === undefined ? 'nobody had spent' : 'it had spent itself'}, and was told PERMIT_INVALID.`,
    });
  }
}

const bookOf: (facts: Facts) => ReadonlyMap<string, string> = rememberedPerFacts((facts) =>
  new Map(redisOf(facts).permits.map(({ userId, nonce, requestId }) => [`${userId} ${nonce}`, requestId])));

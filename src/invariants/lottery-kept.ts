/**
 * lottery-kept: where buyers wait for a draw, nobody is let in who was not drawn, and each draw is what anybody finds who draws again from what was published: the
 * places go to the smallest lots, of each user one request takes part, and the seed is the one that was set before the sale (paper `004` §9).
 */
import type { Facts, RunFacts } from '../facts/facts.js';
import type { LotteryDraw } from '../facts/lottery.js';
import { acceptedRequests } from './accepted-requests.js';
import { rootOf } from './identity.js';
import { userIdAt } from '../facts/arrival-plan.js';
import { planOf } from './indexes.js';
import type { Invariant } from './invariant.js';
import { sha256Hex } from './sha256.js';
import { tallyFor, type Tally } from './tally.js';

export const lotteryKept: Invariant = {
  name: 'lottery-kept',
  title: 'Only the drawn get in',
  whatItMeans: 'Where buyers wait for a draw, everybody who got a reservation was drawn before, and each draw can be repeated by anybody with the same result.',
  needs: ['history', 'redis', 'kafka', 'postgres', 'lottery'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(lotteryKept, facts);
    const room = facts.run.waitingRoom;
    if (room === null) {
      tally.notAsked('nobody waits for a draw in this run');
      return tally.verdict();
    }
    if (!facts.lottery.present) return tally.verdict();
    const rounds = new Set<string>();
    const drawnAtMs = new Map<string, number>();
    for (const draw of facts.lottery.value) {
      if (rounds.has(draw.round)) violate(tally, draw.round, 'was held twice', null);
      rounds.add(draw.round);
      eachDraw(facts, draw, room, tally);
      for (const requestId of draw.drawn) drawnAtMs.set(requestId, Math.min(draw.drawnAtMs, drawnAtMs.get(requestId) ?? Infinity));
    }
    entries(facts, drawnAtMs, tally);
    tally.remark(`${String(rounds.size)} draws, ${String(drawnAtMs.size)} requests drawn`);
    return tally.verdict();
  },
};

function violate(tally: Tally, round: string, claim: string, requestId: string | null): void {
  tally.violation({ kind: 'draw', id: round, subject: { requestId }, claim: `Draw ${round} ${claim}.` });
}

function eachDraw(facts: Facts, { round, skuId, seed, places, entered, drawn }: LotteryDraw, room: NonNullable<RunFacts['waitingRoom']>, tally: Tally): void {
  tally.check();
  if (seed !== room.seed || places !== room.places) violate(tally, round, `was held with seed ${String(seed)} for ${String(places)} places, the sale was set to seed ${String(room.seed)} and ${String(room.places)} places`, null);
  if (skuId !== facts.run.load.skuId) violate(tally, round, `was held for SKU ${skuId}, which is not on sale`, null);
  // Sets: a round may hold a hundred thousand, and a look through the list for each of them would take an hour.
  const inRound = new Set(entered);
  const letIn = new Set(drawn);
  const twice = firstRepeated(entered);
  if (twice !== undefined) violate(tally, round, `has request ${twice} take part twice`, twice);
  oneTicketEach(facts, round, entered, tally);
  const lots = entered.map((requestId) => ({ requestId, lot: sha256Hex(`${String(seed)}:${skuId}:${round}:${requestId}`) }));
  lots.sort((one, other) => (one.lot < other.lot ? -1 : one.lot > other.lot ? 1 : one.requestId < other.requestId ? -1 : 1));
  const winners = new Set(lots.slice(0, places).map(({ requestId }) => requestId));
  for (const requestId of drawn) {
    tally.check();
    if (!winners.has(requestId)) violate(tally, round, `let request ${requestId} go on, which ${inRound.has(requestId) ? 'others had better lots than' : 'took no part in it'}`, requestId);
  }
  const passedOver = [...winners].find((requestId) => !letIn.has(requestId));
  if (passedOver !== undefined) violate(tally, round, `passed over request ${passedOver}, which has one of the best lots`, passedOver);
}

function firstRepeated(requestIds: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return requestIds.find((requestId) => seen.has(requestId) || !seen.add(requestId));
}

function oneTicketEach(facts: Facts, round: string, entered: readonly string[], tally: Tally): void {
  const ticketOf = new Map<string, string>();
  for (const requestId of new Set(entered)) {
    const root = rootOf(facts, requestId);
    if (root === null) {
      violate(tally, round, `has request ${requestId} take part, which is not in the schedule`, requestId);
      continue;
    }
    const userId = userIdAt(planOf(facts), root);
    const other = ticketOf.get(userId);
    if (other !== undefined) violate(tally, round, `gives user ${userId} two tickets, ${other} and ${requestId}`, requestId);
    ticketOf.set(userId, requestId);
  }
}

/** Who has a reservation was drawn, and before it was made. */
function entries(facts: Facts, drawnAtMs: ReadonlyMap<string, number>, tally: Tally): void {
  // A draw is told before anybody hears of it; times in the logs are whole milliseconds.
  const slackMs = facts.run.clock.boundUs / 1_000 + 1;
  for (const { requestId, reservationId, reservedAtMs } of acceptedRequests(facts).values()) {
    tally.check();
    const atMs = drawnAtMs.get(requestId);
    const early = atMs !== undefined && reservedAtMs !== null && reservedAtMs < atMs - slackMs;
    if (atMs !== undefined && !early) continue;
    // A poison message of a fault is nobody's request.
    if (rootOf(facts, requestId) === null) continue;
    tally.violation({
      kind: 'request', id: requestId, subject: { requestId, reservationId },
      claim: early ? `Request ${requestId} got its reservation ${String(atMs - reservedAtMs)} ms before it was drawn.` : `Request ${requestId} got reservation ${reservationId ?? '?'} and was never drawn.`,
    });
  }
}

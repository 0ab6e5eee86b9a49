/** Right worlds of a sale with a door: one whose buyers waited for draws, one whose buyers showed permits, and one whose door was shut for a while. For tests of the judges only. */
import { createHash } from 'node:crypto';

import { expandArrivalPlan, nonceAt, permitAt, requestIdAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import type { LotteryDraw } from '../facts/lottery.js';
import { edited } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';

export const LOTTERY = { seed: 7, places: 6 } as const;
const SKU = '70';

function lotOf(round: string, requestId: string): string {
  return createHash('sha256').update(`${String(LOTTERY.seed)}:${SKU}:${round}:${requestId}`).digest('hex');
}

/** As a gateway holds it. */
export function drawOf(round: string, entered: readonly string[], drawnAtMs: number): LotteryDraw {
  const drawn = [...entered].sort((one, other) => (lotOf(round, one) < lotOf(round, other) ? -1 : 1)).slice(0, LOTTERY.places);
  return { gateway: 'gateway-1', round, skuId: SKU, seed: LOTTERY.seed, places: LOTTERY.places, drawnAtMs, entered, drawn };
}

/** A world without repeats, whose buyers waited for two draws: six places each, and who was not drawn got nothing. */
function withLottery(): Facts {
  const facts = handWrittenFacts({ arrivals: 40, stock: 2 * LOTTERY.places });
  if (!facts.redis.present) throw new Error('Redis is there');
  const winners = facts.redis.value.records.map((record) => record.requestId);
  const all = Array.from({ length: 40 }, (_, index) => `r1-${String(index)}`);
  const losers = all.filter((requestId) => !winners.includes(requestId));
  const atMs = Math.min(...facts.redis.value.records.map((record) => record.reservedAtMs)) - 10;
  const draws = [winners.slice(0, LOTTERY.places), winners.slice(LOTTERY.places)].map((chosen, index) => {
    // A round name is found under which exactly these have the best lots of three more.
    const entered = [...chosen, ...losers.slice(index * 3, index * 3 + 3)];
    for (let attempt = 0; ; attempt += 1) {
      const round = `gateway-1/1700000000000/${String(index * 100_000 + attempt)}`;
      const made = drawOf(round, entered, atMs);
      if (chosen.every((requestId) => made.drawn.includes(requestId))) return made;
    }
  });
  return { ...facts, run: { ...facts.run, waitingRoom: LOTTERY }, lottery: { present: true, value: draws } };
}

/** A world of people who show a permit of their own each, and of repeats that show it again. */
function withPermits(): Facts {
  const facts = handWrittenFacts({ arrivals: 40, stock: 12, mix: { repeatShare: 0.2 }, fates: { cancelled: 0.2, paid: 0.2 }, seed: 5 });
  const load = { ...facts.run.load, permits: { validForMs: 600_000, bots: { noPermit: 0, forgedPermit: 0, expiredPermit: 0, replayedPermit: 0, devices: 3 } } };
  const plan = expandArrivalPlan(load);
  const before = expandArrivalPlan(facts.run.load);
  if (!facts.redis.present) throw new Error('Redis is there');
  if (plan.kind.join() !== before.kind.join() || plan.requestOf.join() !== before.requestOf.join()) throw new Error('permits without bots change the schedule');
  const permitOf = new Map(Array.from({ length: plan.length }, (_, index) => [requestIdAt(load, plan, index), nonceAt(load, permitAt(plan, index))] as const));
  const permits = facts.redis.value.records.map(({ userId, requestId }) => ({ userId, nonce: permitOf.get(requestId) ?? '', requestId }));
  return { ...facts, run: { ...facts.run, load }, redis: { present: true, value: { ...facts.redis.value, permits } } };
}

/** A world in which Redis went away after the last unit was taken: who asked meanwhile was refused. */
function withOutage(): Facts {
  const facts = handWrittenFacts({ arrivals: 100, stock: 30 });
  return edited(facts, (draft) => {
    const startUs = draft.history.columns.intendedUs[0] ?? 0;
    const [fromUs, toUs] = [startUs + 400_000, startUs + 900_000];
    draft.run.failClosed = { inFlightBoundMs: 50, breakerOpensWithinMs: 100 };
    draft.faults.push({
      id: 'redis-down#1', name: 'redis-down', options: {}, scheduledUs: fromUs, injectedUs: fromUs, healedUs: toUs, prediction: '', proof: 'landed',
      observed: '', healed: true, healObserved: '', strikes: 1, strikesAsked: 1, hits: [], mayLose: null, outage: { fromUs, toUs },
    });
  });
}

export const SHUT = withOutage();
export const DRAWN = withLottery();
export const PERMITTED = withPermits();

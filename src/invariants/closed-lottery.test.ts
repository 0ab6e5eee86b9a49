/** Draws that were held as they should be, and all the ways in which one can be cheated. */
import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import type { Facts } from '../facts/facts.js';
import type { LotteryDraw } from '../facts/lottery.js';
import { found, judged, missedIn, nth, type BrokenWorld } from './broken-world.test-support.js';
import { edited, type Draft } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';

const SEED = 7;
const PLACES = 6;
const SKU = '70';

function lotOf(round: string, requestId: string): string {
  return createHash('sha256').update(`${String(SEED)}:${SKU}:${round}:${requestId}`).digest('hex');
}

function drawOf(round: string, entered: readonly string[], drawnAtMs: number): LotteryDraw {
  const drawn = [...entered].sort((one, other) => (lotOf(round, one) < lotOf(round, other) ? -1 : 1)).slice(0, PLACES);
  return { gateway: 'gateway-1', round, skuId: SKU, seed: SEED, places: PLACES, drawnAtMs, entered, drawn };
}

/** A world without repeats, whose buyers waited for two draws: six places each, and who was not drawn got nothing. */
function withLottery(): Facts {
  const facts = handWrittenFacts({ arrivals: 40, stock: 12 });
  if (!facts.redis.present) throw new Error('Redis is there');
  const winners = facts.redis.value.records.map((record) => record.requestId);
  const all = Array.from({ length: 40 }, (_, index) => `r1-${String(index)}`);
  const losers = all.filter((requestId) => !winners.includes(requestId));
  const atMs = Math.min(...facts.redis.value.records.map((record) => record.reservedAtMs)) - 10;
  const draws = [winners.slice(0, PLACES), winners.slice(PLACES)].map((chosen, index) => {
    // A round name is found under which exactly these have the best lots of three more.
    const entered = [...chosen, ...losers.slice(index * 3, index * 3 + 3)];
    for (let attempt = 0; ; attempt += 1) {
      const round = `gateway-1/1700000000000/${String(index * 100_000 + attempt)}`;
      const made = drawOf(round, entered, atMs);
      if (chosen.every((requestId) => made.drawn.includes(requestId))) return made;
    }
  });
  return { ...facts, run: { ...facts.run, waitingRoom: { seed: SEED, places: PLACES } }, lottery: { present: true, value: draws } };
}

const WORLD = withLottery();

const CASES: readonly BrokenWorld[] = [
  { wrong: 'a winner who was never drawn', judge: 'lottery-kept', claim: /and was never drawn/, edit: (draft) => { draft.lottery.pop(); } },
  { wrong: 'a reservation made before its draw', judge: 'lottery-kept', claim: /ms before it was drawn/, edit: (draft) => { nth(draft.lottery, 0).drawnAtMs += 5_000; } },
  { wrong: 'a loser who was let go on', judge: 'lottery-kept', claim: /others had better lots than/, edit: (draft) => {
    const { entered, drawn } = nth(draft.lottery, 0);
    drawn[0] = found(entered, (requestId) => !drawn.includes(requestId));
  } },
  { wrong: 'somebody drawn who took no part', judge: 'lottery-kept', claim: /took no part in it/, edit: (draft) => { nth(draft.lottery, 0).drawn.push('r1-39'); } },
  { wrong: 'a winner passed over', judge: 'lottery-kept', claim: /passed over request/, edit: (draft) => { nth(draft.lottery, 0).drawn.pop(); } },
  { wrong: 'a participant struck off, so that another lot wins', judge: 'lottery-kept', claim: /took no part in it/, edit: (draft) => {
    const made = nth(draft.lottery, 0);
    made.entered = made.entered.filter((requestId) => requestId !== made.drawn[0]);
  } },
  { wrong: 'another seed than the one that was set', judge: 'lottery-kept', claim: /seed 8 for 6 places, the sale was set to seed 7/, edit: (draft) => { nth(draft.lottery, 0).seed = 8; } },
  { wrong: 'more places than were set', judge: 'lottery-kept', claim: /for 7 places/, edit: (draft) => { nth(draft.lottery, 0).places = 7; } },
  { wrong: 'a draw of another SKU', judge: 'lottery-kept', claim: /is not on sale/, edit: (draft) => { nth(draft.lottery, 0).skuId = '71'; } },
  { wrong: 'two tickets of one request', judge: 'lottery-kept', claim: /take part twice/, edit: (draft) => {
    const { entered } = nth(draft.lottery, 0);
    entered.push(nth(entered, 0));
  } },
  { wrong: 'a participant whom nobody scheduled', judge: 'lottery-kept', claim: /is not in the schedule/, edit: (draft) => { nth(draft.lottery, 0).entered.push('r1-4000'); } },
  { wrong: 'a draw held twice', judge: 'lottery-kept', claim: /was held twice/, edit: (draft) => { draft.lottery.push(nth(draft.lottery, 0)); } },
];

describe('lottery-kept', () => {
  it('holds where the draws were fair', () => {
    expect(judged('lottery-kept', WORLD)).toMatchObject({ outcome: 'holds', note: expect.stringContaining('2 draws, 12 requests drawn') as string });
  });

  it('has nothing to say where nobody waits for a draw', () => {
    expect(judged('lottery-kept', edited(WORLD, (draft: Draft) => { draft.run.waitingRoom = null; }))).toMatchObject({ outcome: 'holds', checked: 0 });
  });

  it.each(CASES.map((broken) => [broken.wrong, broken] as const))('catches %s', (_, broken) => {
    expect(missedIn({ ...broken, world: WORLD })).toEqual([]);
  });

  it('catches two tickets of one user', () => {
    const storm = handWrittenFacts({ arrivals: 40, stock: 12, mix: { distinctUsers: 1 } });
    const winner = storm.redis.present ? (storm.redis.value.records[0]?.requestId ?? '') : '';
    const facts: Facts = { ...storm, run: { ...storm.run, waitingRoom: { seed: SEED, places: PLACES } }, lottery: { present: true, value: [drawOf('gateway-1/1/1', [winner, 'r1-5'], 0)] } };
    expect(judged('lottery-kept', facts).first?.claim).toMatch(/two tickets/);
  });
});

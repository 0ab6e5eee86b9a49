/** Draws that were held as they should be, and all the ways in which one can be cheated. */
import { describe, expect, it } from 'vitest';

import type { Facts } from '../facts/facts.js';
import { found, judged, missedIn, nth, type BrokenWorld } from './broken-world.test-support.js';
import { edited, type Draft } from './edited-facts.test-support.js';
import { handWrittenFacts } from './hand-written-facts.test-support.js';
import { DRAWN, LOTTERY, drawOf } from './worlds-at-the-door.test-support.js';

const WORLD = DRAWN;

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
    const facts: Facts = { ...storm, run: { ...storm.run, waitingRoom: LOTTERY }, lottery: { present: true, value: [drawOf('gateway-1/1/1', [winner, 'r1-5'], 0)] } };
    expect(judged('lottery-kept', facts).first?.claim).toMatch(/two tickets/);
  });
});

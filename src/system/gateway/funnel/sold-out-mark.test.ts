// The mark on a clock made by hand: when it stands, whom it lets through, when it asks.
import { expect, test } from 'vitest';

import type { AcceptedPage, SkuStanding, StockView } from '../../stock/stock-view.js';
import { aRequest, said } from './a-request.test-support.js';
import { createSoldOutMark } from './sold-out-mark.js';

const TUNING = { soldOutMarkMs: 500, tempSoldOutRetryMs: 1_000, finalSoldOutRetryMs: 60_000 };
const SKU = { activityId: '7', skuId: '70' };

function world() {
  const state = {
    nowMs: 10_000,
    standing: { stockLeft: 0, soldOutTurn: '1:1', pendingCount: 1, acceptedCount: 3 } as SkuStanding,
    standingGone: false,
    pages: [[{ requestId: 'w1', userId: '1' }], [{ requestId: 'w2', userId: '2' }, { requestId: 'damaged', userId: null }]] as AcceptedPage['requests'][],
    pageFails: -1,
    asked: 0,
    scans: 0,
    mayReturn: true as boolean | null,
    mayReturnAsked: 0,
  };
  const view: StockView = {
    standing() {
      state.asked += 1;
      return Promise.resolve(state.standingGone ? { outcome: 'unknown', reason: 'cut' } : { outcome: 'done', value: state.standing });
    },
    accepted(_sku, cursor) {
      const page = Number(cursor);
      if (page === 0) state.scans += 1;
      if (page === state.pageFails) return Promise.resolve({ outcome: 'surely-not-done', reason: 'cut' });
      return Promise.resolve({ outcome: 'done', value: { requests: state.pages[page] ?? [], nextCursor: page + 1 < state.pages.length ? String(page + 1) : '0' } });
    },
  };
  const mark = createSoldOutMark({
    sku: SKU, view, tuning: TUNING, nowMs: () => state.nowMs,
    unitsMayReturn: () => {
      state.mayReturnAsked += 1;
      return Promise.resolve(state.mayReturn);
    },
  });
  const by = (requestId: string, userId: string): string => said(mark.pass(aRequest({ requestId, userId })));
  return { state, mark, by };
}
/** A question asked in this turn, and one that follows from its answer. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
}
const PROOF = { turn: '1:1', reopensInMs: 0, acceptedCount: -1 };

test('stands from when the winners are loaded until its proof is over', async () => {
  const { state, mark, by } = world();
  expect([by('s', '9'), mark.kind()]).toEqual(['passed', null]);
  mark.told(PROOF, state.nowMs);
  expect(by('s', '9')).toBe('passed');
  state.standingGone = true;
  await settled();
  expect([by('s', '9'), mark.kind()]).toEqual(['TEMP_SOLD_OUT', 'TEMP_SOLD_OUT']);
  state.nowMs += 499;
  expect(by('s', '9')).toBe('TEMP_SOLD_OUT');
  state.nowMs += 1;
  expect([by('s', '9'), mark.kind()]).toEqual(['passed', null]);
});

test('the time of a proof runs from when it was asked for, not from when it came', async () => {
  const { state, mark, by } = world();
  state.standingGone = true;
  mark.told(PROOF, state.nowMs - 400);
  await settled();
  state.nowMs += 99;
  expect(by('s', '9')).toBe('TEMP_SOLD_OUT');
  state.nowMs += 1;
  expect(by('s', '9')).toBe('passed');
});

test('winners, their other requests, and ids of unreadable records go to Redis', async () => {
  const { state, mark, by } = world();
  mark.told(PROOF, state.nowMs);
  await settled();
  expect([by('w1', '1'), by('w2', '2'), by('other', '2'), by('w1', '9'), by('damaged', '9')]).toEqual(['passed', 'passed', 'passed', 'passed', 'passed']);
  expect([mark.isAccepted('w1', '1'), mark.isAccepted('w1', '2'), mark.isAccepted('damaged', '1'), mark.isAccepted('s', '9')]).toEqual([true, false, false, false]);
});

test('renews itself from half its time on, one question at a time, and does not scan again', async () => {
  const { state, mark, by } = world();
  mark.told(PROOF, state.nowMs);
  await settled();
  const asked = state.asked;
  state.nowMs += 249;
  by('s', '9');
  expect(state.asked).toBe(asked);
  for (let round = 1; round <= 5; round += 1) {
    state.nowMs += 250;
    expect([by('s', '9'), by('t', '8')]).toEqual(['TEMP_SOLD_OUT', 'TEMP_SOLD_OUT']);
    expect(state.asked).toBe(asked + round);
    await settled();
  }
  expect(state.scans).toBe(1);
});

test('clears when a renewal sees units', async () => {
  const { state, mark, by } = world();
  mark.told(PROOF, state.nowMs);
  await settled();
  state.standing = { stockLeft: 3, soldOutTurn: '1:1', pendingCount: 0, acceptedCount: 3 };
  state.nowMs += 250;
  expect(by('s', '9')).toBe('TEMP_SOLD_OUT');
  await settled();
  expect(by('s', '9')).toBe('passed');
});

test('units are back and wait: refused until they are sold, without questions, then passed', async () => {
  const { state, mark, by } = world();
  mark.told(PROOF, state.nowMs);
  await settled();
  state.nowMs += 100;
  mark.told({ turn: '1:1', reopensInMs: 450, acceptedCount: -1 }, state.nowMs);
  const asked = state.asked;
  state.nowMs += 449;
  expect([by('s', '9'), state.asked]).toEqual(['TEMP_SOLD_OUT', asked]);
  state.nowMs += 1;
  expect(by('s', '9')).toBe('passed');
});

test('the next time of being sold out needs its own list of winners', async () => {
  const { state, mark, by } = world();
  mark.told(PROOF, state.nowMs);
  await settled();
  state.pages = [[{ requestId: 'w3', userId: '3' }]];
  state.standing = { ...state.standing, soldOutTurn: '1:2', acceptedCount: 1 };
  mark.told({ turn: '1:2', reopensInMs: 0, acceptedCount: -1 }, state.nowMs);
  expect(by('s', '9')).toBe('passed');
  await settled();
  expect([by('s', '9'), by('w3', '3'), state.scans]).toEqual(['TEMP_SOLD_OUT', 'passed', 2]);
});

test('the same turn of another epoch is another time', async () => {
  const { state, mark, by } = world();
  mark.told(PROOF, state.nowMs);
  await settled();
  mark.told({ turn: '2:1', reopensInMs: 0, acceptedCount: -1 }, state.nowMs);
  expect(by('s', '9')).toBe('passed');
});

test('a repair puts a lost record back within the turn: the list is read again, and the winner passes', async () => {
  const { state, mark, by } = world();
  mark.told(PROOF, state.nowMs);
  await settled();
  expect(by('lost', '4')).toBe('TEMP_SOLD_OUT');
  state.pages = [...state.pages, [{ requestId: 'lost', userId: '4' }]];
  state.standing = { ...state.standing, acceptedCount: 4 };
  state.nowMs += 250;
  by('s', '9');
  await settled();
  expect([by('lost', '4'), by('s', '9'), state.scans]).toEqual(['passed', 'TEMP_SOLD_OUT', 2]);
});

test('a list that breaks off is no list; the next refusal starts a new one', async () => {
  const { state, mark, by } = world();
  state.pageFails = 1;
  mark.told(PROOF, state.nowMs);
  await settled();
  expect(by('s', '9')).toBe('passed');
  state.pageFails = -1;
  mark.told(PROOF, state.nowMs);
  await settled();
  expect(by('s', '9')).toBe('TEMP_SOLD_OUT');
});

test('FINAL only when nothing is under way and PostgreSQL says so; asked now and then', async () => {
  const { state, mark, by } = world();
  state.mayReturn = null;
  mark.told(PROOF, state.nowMs);
  await settled();
  expect([by('s', '9'), state.mayReturnAsked]).toEqual(['TEMP_SOLD_OUT', 0]);
  state.standing = { ...state.standing, pendingCount: 0 };
  state.nowMs += 250;
  by('s', '9');
  await settled();
  expect([by('s', '9'), state.mayReturnAsked]).toEqual(['TEMP_SOLD_OUT', 1]);
  state.mayReturn = false;
  for (let round = 0; round < 8; round += 1) {
    state.nowMs += 250;
    by('s', '9');
    await settled();
  }
  expect([by('s', '9'), state.mayReturnAsked]).toEqual(['FINAL_SOLD_OUT', 2]);
  expect(mark.pass(aRequest({ requestId: 's' }))).toMatchObject({ httpStatus: 410, answer: { retryAfterMs: 60_000 } });
});

test('a gateway that has accepted everybody itself needs no list: as many as Redis says, of the same epoch', async () => {
  const { state, mark, by } = world();
  for (const n of ['1', '2', '3']) mark.accepted('1', `own${n}`, n);
  mark.accepted('1', 'own3', '3');
  mark.told({ turn: '1:1', reopensInMs: 0, acceptedCount: 3 }, state.nowMs);
  expect([by('s', '9'), by('own1', '1'), by('other', '2'), state.scans]).toEqual(['TEMP_SOLD_OUT', 'passed', 'passed', 0]);
  expect(mark.isAccepted('own3', '3')).toBe(true);
  await settled();
  expect(by('s', '9')).toBe('TEMP_SOLD_OUT');
});

test('acceptances that come with the refusal, only later in its turn of the event loop, spare the reading too', async () => {
  const { state, mark, by } = world();
  mark.accepted('1', 'own1', '1');
  mark.told({ turn: '1:1', reopensInMs: 0, acceptedCount: 2 }, state.nowMs);
  mark.accepted('1', 'own2', '2');
  await settled();
  expect([by('own2', '2'), by('s', '9'), state.scans]).toEqual(['passed', 'TEMP_SOLD_OUT', 0]);
});

test.each([
  ['one was accepted elsewhere', '1', 4],
  ['Redis has lost one', '1', 2],
  ['they are of another epoch', '0', 3],
])('%s: the list is read', async (_name, epoch, acceptedCount) => {
  const { state, mark, by } = world();
  for (const n of ['1', '2', '3']) mark.accepted(epoch, `own${n}`, n);
  mark.told({ turn: '1:1', reopensInMs: 0, acceptedCount }, state.nowMs);
  expect(by('s', '9')).toBe('passed');
  await settled();
  expect([state.scans, by('w1', '1'), by('s', '9')]).toEqual([1, 'passed', 'TEMP_SOLD_OUT']);
});

test('what was accepted under an earlier epoch counts no more', () => {
  const { state, mark, by } = world();
  mark.accepted('0', 'lost', '1');
  mark.accepted('1', 'own2', '2');
  mark.told({ turn: '1:1', reopensInMs: 0, acceptedCount: 1 }, state.nowMs);
  expect([by('lost', '1'), by('own2', '2'), state.scans]).toEqual(['TEMP_SOLD_OUT', 'passed', 0]);
});

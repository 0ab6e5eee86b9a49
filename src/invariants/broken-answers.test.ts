/** Wrong answers to clients: one wrong thing at a time is put into a right world, and the judge named here has to catch it. */
import { describe, expect, it } from 'vitest';
import { wallToMonoUs } from '../facts/timeline.js';
import { arrivalTold, ELSEWHERE, found, hexAt, judged, LIVES, missedIn, moveCommit, nth, openOrder, REFUSED, tell, TOKEN, type BrokenWorld } from './broken-world.test-support.js';
import { edited, without, type Draft } from './edited-facts.test-support.js';

/** The first arrival that was told QUEUED, and its message in the topic. */
function firstQueued(draft: Draft): { readonly index: number; readonly message: Draft['kafka']['orders'][number]; readonly appendedUs: number } {
  const index = arrivalTold(draft, (code, at) => code === 'QUEUED' && draft.history.columns.httpStatus[at] === 202);
  const message = found(draft.kafka.orders, ({ reservationId }) => reservationId.replaceAll('-', '') === hexAt(draft, index));
  return { index, message, appendedUs: wallToMonoUs(draft.run.clock, message.appendedAtMs * 1_000) };
}

const CASES: readonly BrokenWorld[] = [
  { wrong: 'a repeat told another reservation', judge: 'one-answer-per-request', claim: /told 2 reservations/, edit: (draft) => {
    const index = arrivalTold(draft, (code, at) => code !== 'SOLD_OUT' && draft.history.columns.httpStatus[at] === 200);
    draft.history.columns.reservation.set(Buffer.from(ELSEWHERE.replaceAll('-', ''), 'hex'), index * 16);
  } },
  { wrong: 'a poll told another reservation', judge: 'one-answer-per-request', edit: (draft) => { found(draft.history.tellings, (telling) => telling.code === 'ORDERED').reservationId = ELSEWHERE; } },
  { wrong: 'a repeat of a winner told 410', judge: 'one-answer-per-request', claim: /was then told SOLD_OUT/, edit: (draft) => {
    const ordered = new Set(draft.postgres.orders.filter((order) => order.status === 10).map((order) => order.reservationId.replaceAll('-', '')));
    tell(draft, arrivalTold(draft, (_, at) => draft.history.columns.httpStatus[at] === 200 && ordered.has(hexAt(draft, at))), 'SOLD_OUT', 410);
  } },
  { wrong: 'QUEUED with no record anywhere', judge: 'honest-answers', claim: /neither Redis nor the topic nor PostgreSQL/, edit: (draft) => {
    const index = arrivalTold(draft, (code) => code === 'SOLD_OUT');
    tell(draft, index, 'QUEUED', 202, ELSEWHERE);
  } },
  { wrong: 'QUEUED of a message that the broker has never had', judge: 'honest-answers', world: REFUSED, claim: /told QUEUED .* its message never reached the topic/, edit: (draft) => {
    tell(draft, arrivalTold(draft, (code) => code === 'QUEUED_PENDING_MESSAGE'), 'QUEUED', 202);
  } },
  { wrong: 'QUEUED before the broker had the message', judge: 'honest-answers', claim: /reached the topic at least 1\.\d ms later/, edit: (draft) => { draft.history.columns.answeredUs[firstQueued(draft).index] = firstQueued(draft).appendedUs - draft.run.clock.boundUs - 1_500; } },
  { wrong: 'QUEUED by a poll before the broker had the message', judge: 'honest-answers', claim: /heard by poll QUEUED .* reached the topic at least/, edit: (draft) => {
    const { appendedUs, message } = firstQueued(draft);
    draft.history.tellings.push({ ...nth(draft.history.tellings, 0), ...message, kind: 'poll', code: 'QUEUED', orderId: null, answeredUs: appendedUs - 1_000_000 });
  } },
  { wrong: 'QUEUED while only the second copy counts', judge: 'honest-answers', claim: /reached the topic at least/, edit: (draft) => {
    const { message } = firstQueued(draft);
    message.appendedAtMs += 60_000;
    draft.kafka.orders.push({ ...message, offset: '900', appendedAtMs: message.appendedAtMs + 1 });
    const bounds = found(draft.kafka.ordersBounds, ({ partition }) => partition === message.partition);
    bounds.endOffset = bounds.committedOffset = String(Number(bounds.endOffset) + 1);
  } },
  { wrong: 'told the reservation of somebody else', judge: 'honest-answers', claim: /belongs to request/, edit: (draft) => {
    const index = arrivalTold(draft, (code) => code === 'SOLD_OUT');
    tell(draft, index, 'QUEUED', 202, openOrder(draft).reservationId);
  } },
  { wrong: 'told ORDERED before the commit', judge: 'honest-answers', claim: /was committed at least/, edit: (draft) => {
    const telling = found(draft.history.tellings, (candidate) => candidate.code === 'ORDERED');
    const commit = found(draft.commitLog.transactions, (transaction) => transaction.changes.some((change) => change.row['reservation_id'] === telling.reservationId));
    const { atStart } = draft.run.clock;
    telling.answeredUs = atStart.monoUs + (commit.committedAtUs - atStart.wallUs) - draft.run.clock.boundUs - 1;
  } },
  { wrong: 'told ORDERED where there is no order', judge: 'honest-answers', world: REFUSED, claim: /there is no order/, edit: (draft) => { found(draft.history.tellings, (telling) => telling.code === 'RELEASED').code = 'ORDERED'; } },
  { wrong: 'told RELEASED before it was', judge: 'honest-answers', world: REFUSED, claim: /was committed at least/, edit: (draft) => {
    const telling = found(draft.history.tellings, (candidate) => candidate.code === 'RELEASED');
    telling.answeredUs = draft.run.clock.atStart.monoUs;
  } },
  { wrong: 'told RELEASED while the money is on its way back', judge: 'honest-answers', world: REFUSED, claim: /reservation row is in state 30/, edit: (draft) => {
    const { reservationId } = found(draft.history.tellings, (telling) => telling.code === 'RELEASED');
    found(draft.postgres.reservations, (row) => row.reservationId === reservationId).status = 30;
  } },
  { wrong: 'told RELEASED with the order of somebody else', judge: 'honest-answers', world: LIVES, claim: /its order is \d+ and not 1/, edit: (draft) => {
    const ended = new Set(draft.postgres.orders.filter((order) => order.status === 40).map((order) => order.reservationId));
    found(draft.history.tellings, (telling) => telling.code === 'RELEASED' && ended.has(telling.reservationId ?? '')).orderId = '1';
  } },
  { wrong: 'told REJECTED of a reservation that PostgreSQL has never refused', judge: 'honest-answers', world: REFUSED, claim: /never refused or released/, edit: (draft) => {
    const { reservationId } = found(draft.history.tellings, (telling) => telling.code === 'REJECTED');
    draft.postgres.reservations = draft.postgres.reservations.filter((row) => row.reservationId !== reservationId);
    draft.postgres.inbox = draft.postgres.inbox.filter((row) => row.reservationId !== reservationId);
  } },
  { wrong: 'told the order of somebody else', judge: 'honest-answers', edit: (draft) => {
    const ordered = draft.history.tellings.filter((telling) => telling.code === 'ORDERED');
    nth(ordered, 0).orderId = nth(ordered, 1).orderId;
  } },
  { wrong: 'told REJECTED while the order stands', judge: 'honest-answers', claim: /reservation row is in state 10/, edit: (draft) => { found(draft.history.tellings, (telling) => telling.code === 'ORDERED').code = 'REJECTED'; } },
  { wrong: 'told 410 for good while there is an order', judge: 'honest-answers', claim: /the last its client heard was SOLD_OUT/, edit: (draft) => {
    const { requestId } = openOrder(draft);
    draft.history.tellings = draft.history.tellings.filter((telling) => telling.requestId !== requestId);
    const root = Number(requestId.slice(requestId.indexOf('-') + 1));
    tell(draft, root, 'SOLD_OUT', 410);
    // Repeats of it would still have told the truth.
    for (let index = root + 1; index < draft.history.columns.length; index += 1) {
      if (hexAt(draft, index) === openOrder(draft).reservationId.replaceAll('-', '')) tell(draft, index, 'SOLD_OUT', 410);
    }
  } },
];

describe('wrong answers to clients', () => {
  it.each(CASES.map((broken) => [broken.judge, broken.wrong, broken] as const))('%s catches: %s', (_, __, broken) => {
    expect(missedIn(broken)).toEqual([]);
  });
});

describe('QUEUED', () => {
  const outcome = (edit: (draft: Draft) => void): string => judged('honest-answers', edited(TOKEN, edit)).outcome;
  const late = (draft: Draft): void => { draft.history.columns.answeredUs[firstQueued(draft).index] = firstQueued(draft).appendedUs - draft.run.clock.boundUs - 1_500; };

  it('may be told as soon as the two clocks allow that the broker had the message', () => {
    expect(outcome((draft) => { draft.history.columns.answeredUs[firstQueued(draft).index] = firstQueued(draft).appendedUs - draft.run.clock.boundUs; })).toBe('holds');
  });

  it('is proven by a row that was committed by then, whatever became of the message', () => {
    expect(outcome((draft) => {
      late(draft);
      const { reservationId } = firstQueued(draft).message;
      for (const commit of draft.commitLog.transactions.filter(({ changes }) => changes.some(({ row }) => row['reservation_id'] === reservationId))) {
        moveCommit(draft, commit, -1_000_000);
        // Written by somebody who took it over, and not by its message, which came later.
        Object.assign(commit, { changes: commit.changes.filter(({ table }) => table !== 'consumer_inbox') });
      }
    })).toBe('holds');
  });

  it('is unknown where the topic has lost its beginning, and where the log of commits is missing', () => {
    expect(outcome((draft) => { late(draft); nth(draft.kafka.ordersBounds, 0).beginOffset = '1'; })).toBe('unknown');
    expect(judged('honest-answers', without(edited(TOKEN, late), 'commitLog')).outcome).toBe('unknown');
  });
});

// The lottery: fair to whoever came within the window, and to be drawn again from its log.
import { expect, test } from 'vitest';

import { aRequest, said } from './a-request.test-support.js';
import { draw, createWaitingRoom } from './waiting-room.js';

type Line = Readonly<Record<string, unknown>>;

function world(tuning: { places?: number; participantsMax?: number } = {}) {
  const lines: Line[] = [];
  const timers: (() => void)[] = [];
  const room = createWaitingRoom({
    tuning: { windowMs: 500, seed: 7, places: 3, participantsMax: 1_000, ...tuning },
    log: (_level, text, fields) => lines.push({ text, ...fields }),
    instance: 'gateway-1',
    startedAtMs: 42,
    after: (_delayMs, then) => timers.push(then),
  });
  const enter = async (requestId: string, userId = requestId): Promise<string> => said(await room.pass(aRequest({ requestId, userId })));
  return { room, lines, timers, enter };
}

test('draws its places from one window; the others may try again; the next one opens a new window', async () => {
  const { timers, enter } = world();
  const answers = Array.from({ length: 10 }, (_value, index) => enter(`r${String(index)}`));
  expect(timers).toHaveLength(1);
  timers[0]?.();
  const told = await Promise.all(answers);
  expect(told.filter((answer) => answer === 'passed')).toHaveLength(3);
  expect(told.filter((answer) => answer === 'QUEUE_FULL')).toHaveLength(7);
  const late = enter('late');
  expect(timers).toHaveLength(2);
  timers[1]?.();
  expect(await late).toBe('passed');
});

test('the log is enough to draw again, by anybody, with the same end', async () => {
  const { lines, timers, enter } = world({ places: 200 });
  const answers = Promise.all(Array.from({ length: 700 }, (_value, index) => enter(`r${String(index)}`)));
  timers[0]?.();
  const told = await answers;
  const seal = lines.at(-1);
  const pages = lines.slice(0, -1);
  expect(seal).toMatchObject({ text: 'lottery: drawn', seed: 7, places: 200, participants: 700, drawn: 200, round: 'gateway-1/42/1', skuId: '70' });
  const idsOf = (won: boolean): string[] => pages.filter((page) => page['won'] === won).flatMap((page) => String(page['requestIds']).split(' '));
  const again = draw(7, '70', String(seal?.['round']), [...idsOf(true), ...idsOf(false)].sort(), 200);
  expect(again).toEqual(new Set(idsOf(true)));
  expect(told.map((answer, index) => (answer === 'passed' ? `r${String(index)}` : null)).filter((id) => id !== null).sort()).toEqual(idsOf(true).sort());
});

test('neither the order of arrival nor a second try within the window helps', () => {
  const ids = Array.from({ length: 100 }, (_value, index) => `r${String(index)}`);
  const drawn = draw(1, '70', 'g/1', ids, 10);
  expect(draw(1, '70', 'g/1', [...ids].reverse(), 10)).toEqual(drawn);
  expect(draw(1, '70', 'g/1', [...ids, ...ids, 'r1', 'r1'], 10)).toEqual(drawn);
  expect(draw(2, '70', 'g/1', ids, 10)).not.toEqual(drawn);
  expect(draw(1, '70', 'g/2', ids, 10)).not.toEqual(drawn);
});

test('a repeat within the window hears the same as the first', async () => {
  const { timers, enter } = world({ places: 1 });
  const answers = Promise.all(['a', 'b', 'a', 'b'].map((requestId) => enter(requestId)));
  timers[0]?.();
  const [a, b, again, bAgain] = await answers;
  expect([again, bAgain]).toEqual([a, b]);
  expect(a).not.toBe(b);
});

test('more request ids of one user are no more tickets', async () => {
  const { timers, enter } = world({ places: 2 });
  const first = enter('a', 'one');
  expect(await enter('b', 'one')).toBe('QUEUE_FULL');
  const other = enter('c', 'two');
  timers[0]?.();
  expect([await first, await other]).toEqual(['passed', 'passed']);
});

test('nobody is answered before the evidence is written', async () => {
  const { timers, enter, lines } = world();
  let toldAfter = -1;
  const answer = enter('a').then(() => (toldAfter = lines.length));
  timers[0]?.();
  expect(lines.at(-1)).toMatchObject({ text: 'lottery: drawn' });
  await answer;
  expect(toldAfter).toBe(lines.length);
});

test('a full room says so at once', async () => {
  const { enter, timers } = world({ participantsMax: 1 });
  const first = enter('a');
  expect(await enter('b')).toBe('QUEUE_FULL');
  timers[0]?.();
  expect(await first).toBe('passed');
});

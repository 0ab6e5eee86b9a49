// A pause is proven by a process that stood still from end to end, and always ended.
import { expect, test } from 'vitest';

import { FakeRole, fakeClock, fakeTargets } from './fake-targets.test-support.js';
import { parseFaultOption } from './registry.js';

function begin(role: FakeRole) {
  const parsed = parseFaultOption('pause-at-step@step=relay.after-claim,s=1,hit=2');
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const clock = fakeClock();
  return { plans: parsed.fault.plans('f#1', ['relay-1']), hand: parsed.fault.begin({ id: 'f#1', targets: fakeTargets([role]), clock }), clock };
}

test('lands when the process stood still, and it is woken', async () => {
  const role = new FakeRole('relay-1');
  const { hand, plans } = begin(role);
  expect(plans).toMatchObject([{ instance: 'relay-1', plan: { action: 'pause', firstHit: 2, times: 1 } }]);
  role.paused = true;
  role.hit('relay.after-claim', 2, 'f#1@relay-1', 10);
  await hand.inject(new AbortController().signal);
  expect(role.paused).toBe(false);
  expect((await hand.heal()).healed).toBe(true);
  expect(await hand.prove()).toMatchObject({ landed: true, strikes: 1, hits: [{ hit: 2 }] });
  expect(role.disarmed).toEqual(['f#1@relay-1']);
});

test.each([
  ['it reached a step meanwhile', (role: FakeRole) => { role.steps = { 'relay.after-send': 1 }; }],
  ['it was woken by somebody else', (role: FakeRole) => { role.paused = false; }],
])('does not land: %s', async (_, happen) => {
  const role = new FakeRole('relay-1');
  const { hand, clock } = begin(role);
  role.paused = true;
  role.hit('relay.after-claim', 2, 'f#1@relay-1', 10);
  const injecting = hand.inject(new AbortController().signal);
  while (clock.nowUs < 1_500_000) await clock.wait(10);
  happen(role);
  await injecting;
  await hand.heal();
  expect(role.paused).toBe(false);
  expect((await hand.prove()).landed).toBe(false);
});

test.each([
  ['lands when another process of the role works meanwhile', 3, true],
  ['does not land when the other does nothing either', 0, false],
])('a pause that somebody has to take over %s', async (_, steps, landed) => {
  const [role, partner] = [new FakeRole('relay-1'), new FakeRole('relay-2')];
  partner.steps = { 'relay.after-mark': 5 };
  const parsed = parseFaultOption('pause-at-step@step=relay.after-claim,s=1,partner=works');
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const clock = fakeClock();
  const hand = parsed.fault.begin({ id: 'f#1', targets: fakeTargets([role, partner]), clock });
  role.paused = true;
  role.hit('relay.after-claim', 1, 'f#1@relay-1', 10);
  const injecting = hand.inject(new AbortController().signal);
  while (clock.nowUs < 1_500_000) await clock.wait(10);
  partner.steps = { 'relay.after-mark': 5 + steps };
  await injecting;
  await hand.heal();
  expect(await hand.prove()).toMatchObject({ landed, observed: expect.stringContaining(`others of the role reached ${String(steps)} steps meanwhile`) as unknown });
});

test('a pause that somebody has to take over: whoever comes first is held, and the other goes on at once', async () => {
  const [role, partner] = [new FakeRole('relay-1'), new FakeRole('relay-2')];
  const parsed = parseFaultOption('pause-at-step@step=relay.after-claim,s=1,partner=works');
  if (!parsed.ok) throw new Error(parsed.problems.join());
  expect(parsed.fault.plans('f#1', ['gateway-1', 'relay-1', 'relay-2'])).toMatchObject([{ instance: 'relay-1', plan: { times: 1 } }, { instance: 'relay-2', plan: { times: 1 } }]);
  const clock = fakeClock();
  const hand = parsed.fault.begin({ id: 'f#1', targets: fakeTargets([role, partner]), clock });
  partner.paused = true;
  partner.hit('relay.after-claim', 1, 'f#1@relay-2', 10);
  const injecting = hand.inject(new AbortController().signal);
  while (clock.nowUs < 1_400_000) await clock.wait(10);
  role.paused = true;
  role.hit('relay.after-claim', 1, 'f#1@relay-1', 20);
  while (clock.nowUs < 1_500_000) await clock.wait(10);
  expect([role.paused, partner.paused]).toEqual([false, true]);
  role.steps = { 'relay.after-claim': 1 };
  await injecting;
  await hand.heal();
  expect(await hand.prove()).toMatchObject({ landed: true, strikes: 1, hits: [{ instance: 'relay-2' }] });
  expect(parseFaultOption('pause-at-step@step=relay.after-claim,partner=works,times=2')).toMatchObject({ ok: false });
});

test('an end in the middle of a pause wakes the process and proves nothing', async () => {
  const role = new FakeRole('relay-1');
  const { hand, clock } = begin(role);
  role.paused = true;
  role.hit('relay.after-claim', 2, 'f#1@relay-1', 10);
  const stop = new AbortController();
  const injecting = hand.inject(stop.signal);
  while (clock.nowUs < 1_500_000) await clock.wait(10);
  stop.abort();
  await injecting;
  await hand.heal();
  expect(role.paused).toBe(false);
  expect((await hand.prove()).landed).toBe(false);
});

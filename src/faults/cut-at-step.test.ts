// The call that follows a step is lost, or the connection is cut: landed by the bytes that never left, refused where no call follows.
import { describe, expect, test } from 'vitest';

import { FakeRole, fakeClock, fakeTargets } from './fake-targets.test-support.js';
import { begin, live } from './fault-in-hand.test-support.js';
import { parseFaultOption } from './registry.js';

describe('cut-at-step', () => {
  const option = 'cut-at-step@step=consumer.before-commit,link=consumer-postgres,times=2,every=3';

  test('arms the toxic, lets the process go on, and lands by the bytes lost', async () => {
    const role = new FakeRole('consumer-1');
    const targets = fakeTargets([role]);
    const link = targets.fakeLink('consumer-postgres');
    const orderOfThings: string[] = [];
    role.goOn = (hit) => {
      orderOfThings.push(`go on ${String(hit.hit)} with ${String(link.toxics.length)} toxic`);
      link.move(30, 0);
      if (hit.hit === 3) role.hit('consumer.before-commit', 6, 'f#1@consumer-1', 20);
    };
    role.hit('consumer.before-commit', 3, 'f#1@consumer-1', 10);
    const { proof, heal } = await live(option, targets);
    expect(orderOfThings).toEqual(['go on 3 with 1 toxic', 'go on 6 with 1 toxic']);
    expect(proof).toMatchObject({ landed: true, strikes: 2 });
    expect(heal.healed).toBe(true);
    expect(link.toxics).toEqual([]);
  });

  test.each([[40, true], [0, false]])('a connection that is cut is counted when it ends: %i bytes', async (bytes, landed) => {
    const role = new FakeRole('consumer-1');
    const targets = fakeTargets([role]);
    const link = targets.fakeLink('consumer-postgres');
    const orderOfThings: string[] = [];
    link.onChange = (change) => {
      if (change !== 'disabled') return;
      orderOfThings.push('closed');
      link.move(bytes, bytes);
    };
    role.goOn = () => orderOfThings.push(`go on, ${link.enabled ? 'open' : 'closed'}`);
    role.hit('consumer.before-commit', 1, 'f#1@consumer-1', 10);
    const { proof } = await live('cut-at-step@step=consumer.before-commit,link=consumer-postgres,stream=both', targets);
    expect(orderOfThings).toEqual(['closed', 'go on, open']);
    expect(proof.landed).toBe(landed);
  });

  test('stays until the call has surely been made, whatever was lost before', async () => {
    const role = new FakeRole('consumer-1');
    const targets = fakeTargets([role]);
    const link = targets.fakeLink('consumer-postgres');
    const clock = fakeClock();
    const parsed = parseFaultOption('cut-at-step@step=consumer.before-commit,link=consumer-postgres');
    if (!parsed.ok) throw new Error(parsed.problems.join());
    const hand = parsed.fault.begin({ id: 'f#1', targets, clock });
    let wentOnUs = 0;
    role.goOn = () => {
      wentOnUs = clock.nowUs;
      // Somebody else's bytes, before the call of the step.
      link.move(30, 0);
    };
    role.hit('consumer.before-commit', 1, 'f#1@consumer-1', 10);
    const injecting = hand.inject(new AbortController().signal);
    while (wentOnUs === 0 || clock.nowUs < wentOnUs + 40_000) await new Promise((resolve) => setImmediate(resolve));
    expect(link.toxics).toHaveLength(1);
    await injecting;
    expect(link.toxics).toEqual([]);
  });

  test.each([['gateway.after-mark-sent', 'gateway-redis'], ['consumer.after-commit', 'consumer-postgres'], ['relay.after-mark', 'relay-postgres'], ['relay.after-claim', 'relay-postgres'], ['consumer.before-commit', 'consumer-kafka']])('after %s nothing follows over %s: only the connection can be cut', (step, link) => {
    const parsed = parseFaultOption(`cut-at-step@step=${step},link=${link},stream=upstream`);
    expect(parsed.ok ? '' : parsed.problems.join()).toContain('stream=both');
    expect(parseFaultOption(`cut-at-step@step=${step},link=${link},stream=both`).ok).toBe(true);
  });

  test('a cut that loses nothing is no strike, and a process that waits is let go by the heal', async () => {
    const role = new FakeRole('consumer-1');
    const targets = fakeTargets([role]);
    role.hit('consumer.before-commit', 3, 'f#1@consumer-1', 10);
    const { hand } = begin(option, targets);
    const stop = new AbortController();
    const injecting = hand.inject(stop.signal);
    while (role.wentOn.length === 0) await new Promise((resolve) => setImmediate(resolve));
    stop.abort();
    await injecting;
    const late = role.hit('consumer.before-commit', 6, 'f#1@consumer-1', 20);
    await hand.heal();
    expect(role.wentOn).toContain(late);
    expect(role.disarmed).toEqual(['f#1@consumer-1']);
    expect(await hand.prove()).toMatchObject({ landed: false, strikes: 0 });
  });
});

// Each fault against fake targets: landed only when all that it predicts was seen, and healed whatever happened.
import { describe, expect, test } from 'vitest';

import type { RoleInstance } from '../domain/roles.js';
import { FakeRole, fakeTargets, type FakeTargets } from './fake-targets.test-support.js';
import { begin, live } from './fault-in-hand.test-support.js';
import { parseFaultOption } from './registry.js';

describe('kill-role', () => {
  const plansFor = (option: string, instances: RoleInstance[]) => {
    const parsed = parseFaultOption(option);
    return parsed.ok ? parsed.fault.plans('f#1', instances) : [];
  };

  test('shares its strikes out among the processes of the role', () => {
    const aimed = plansFor('kill-role@step=gateway.after-reserve,every=20,times=5', ['gateway-1', 'consumer-1', 'gateway-2']);
    expect(aimed).toEqual([
      { instance: 'gateway-1', plan: { id: 'f#1@gateway-1', step: 'gateway.after-reserve', action: 'kill', firstHit: 20, everyHits: 20, times: 3 } },
      { instance: 'gateway-2', plan: { id: 'f#1@gateway-2', step: 'gateway.after-reserve', action: 'kill', firstHit: 20, everyHits: 20, times: 2 } },
    ]);
    expect(plansFor('kill-role@step=gateway.after-reserve,hit=7,instance=2', ['gateway-1', 'gateway-2'])).toMatchObject([{ instance: 'gateway-2', plan: { firstHit: 7, everyHits: 1, times: 1 } }]);
    expect(plansFor('kill-role@step=relay.after-send', ['gateway-1'])).toEqual([]);
  });

  test('lands when every line has an exit of its own', async () => {
    const role = new FakeRole('gateway-1');
    role.hit('gateway.after-reserve', 1, 'f#1@gateway-1', 10);
    role.exit('SIGKILL', 11);
    role.hit('gateway.after-reserve', 2, 'f#1@gateway-1', 20);
    role.exit('SIGKILL', 21);
    role.hit('gateway.after-reserve', 3, 'somebody-else', 30);
    const { proof, heal } = await live('kill-role@step=gateway.after-reserve,times=2', fakeTargets([role]));
    expect(proof).toMatchObject({ landed: true, strikes: 2, hits: [{ hit: 1 }, { hit: 2 }] });
    expect(heal.healed).toBe(true);
    expect(role.disarmed).toEqual(['f#1@gateway-1']);
  });

  test.each([
    ['a strike is missing', (role: FakeRole) => { role.hit('gateway.after-reserve', 1, 'f#1@gateway-1', 10); role.exit('SIGKILL', 11); }, 1],
    ['a line without an exit', (role: FakeRole) => { role.hit('gateway.after-reserve', 1, 'f#1@gateway-1', 10); role.hit('gateway.after-reserve', 2, 'f#1@gateway-1', 20); role.exit('SIGKILL', 21); }, 1],
    ['another signal', (role: FakeRole) => { role.hit('gateway.after-reserve', 1, 'f#1@gateway-1', 10); role.exit('SIGSEGV', 11); role.hit('gateway.after-reserve', 2, 'f#1@gateway-1', 20); role.exit('SIGTERM', 21); }, 0],
  ])('does not land: %s', async (_, happen, strikes) => {
    const role = new FakeRole('gateway-1');
    happen(role);
    const { hand } = begin('kill-role@step=gateway.after-reserve,times=2', fakeTargets([role]));
    const stop = new AbortController();
    const injecting = hand.inject(stop.signal);
    stop.abort();
    await injecting;
    expect(await hand.prove()).toMatchObject({ landed: false, strikes });
  });

  test('is not healed while a process is not healthy', async () => {
    const role = new FakeRole('gateway-1');
    role.healthy = false;
    const { hand } = begin('kill-role@step=gateway.after-reserve', fakeTargets([role]));
    expect(await hand.heal()).toMatchObject({ healed: false });
  });
});

describe.each([
  ['redis-down@s=2', 'gateway-redis', 'gateway-1'],
  ['pg-outage@s=2', 'consumer-postgres', 'consumer-1'],
  ['broker-outage@s=2', 'relay-kafka', 'relay-1'],
] as const)('%s', (option, name, instance) => {
  test('lands when connections were cut and no byte passed after that', async () => {
    const targets = fakeTargets([new FakeRole(instance)]);
    const link = targets.fakeLink(name);
    link.onChange = () => { link.move(500, 500); };
    const { proof, heal } = await live(option, targets);
    expect(proof).toMatchObject({ landed: true, strikes: 1 });
    expect(proof.observed).toContain(`${name} 500 B`);
    expect(heal.healed).toBe(true);
    expect(link.enabled).toBe(true);
  });

  test('does not land when nobody was connected', async () => {
    expect((await live(option, fakeTargets([new FakeRole(instance)]))).proof.landed).toBe(false);
  });

  test('does not land when bytes pass during the outage', async () => {
    const targets = fakeTargets([new FakeRole(instance)]);
    const link = targets.fakeLink(name);
    link.onChange = () => { link.move(500, 500); };
    const { hand, clock } = begin(option, targets);
    const injecting = hand.inject(new AbortController().signal);
    while (clock.nowUs < 2_000_000) await clock.wait(10);
    link.move(1, 1);
    await injecting;
    expect((await hand.prove()).landed).toBe(false);
  });

  test('does not land when no running role uses the store', async () => {
    const { proof, heal } = await live(option, fakeTargets([]));
    expect(proof).toMatchObject({ landed: false });
    expect(heal.healed).toBe(true);
  });

  test('ends early when the run is broken off', async () => {
    const targets = fakeTargets([new FakeRole(instance)]);
    const { hand, clock } = begin(option, targets);
    const stop = new AbortController();
    stop.abort();
    const before = clock.nowUs;
    await hand.inject(stop.signal);
    expect(clock.nowUs - before).toBeLessThan(2_000_000);
    expect((await hand.heal()).healed).toBe(true);
  });

  test('freeze: lands when the server is stopped and silent at both ends', async () => {
    const targets = fakeTargets([]);
    const { proof, heal } = await live(`${option},mode=freeze`, targets);
    expect(proof.landed).toBe(true);
    expect(heal.healed).toBe(true);
  });

  test('freeze: does not land when the server goes on', async () => {
    const targets = fakeTargets([]);
    for (const server of ['postgres', 'redis-primary', 'kafka'] as const) targets.fakeServer(server).deaf = true;
    expect((await live(`${option},mode=freeze`, targets)).proof.landed).toBe(false);
  });

  test('unplug: lands when the server is off its network at both ends and no conversation is answered', async () => {
    const targets = fakeTargets([new FakeRole(instance)]);
    const { proof, heal } = await live(`${option},mode=unplug`, targets);
    expect(proof).toMatchObject({ landed: true, strikes: 1 });
    expect(heal).toMatchObject({ healed: true });
  });

  test.each([
    ['the server stays plugged in', (targets: FakeTargets) => { for (const server of ['postgres', 'redis-primary', 'kafka'] as const) targets.fakeServer(server).deaf = true; }],
    ['a conversation goes on', (targets: FakeTargets) => { targets.leaks = true; }],
  ])('unplug: does not land when %s', async (_, happen) => {
    const targets = fakeTargets([new FakeRole(instance)]);
    happen(targets);
    expect((await live(`${option},mode=unplug`, targets)).proof.landed).toBe(false);
  });

  test('unplug: does not land when no running role uses the store', async () => {
    expect((await live(`${option},mode=unplug`, fakeTargets([]))).proof.landed).toBe(false);
  });

  test('unplug: is not healed while a link does not answer', async () => {
    const targets = fakeTargets([new FakeRole(instance)]);
    const { hand } = begin(`${option},mode=unplug`, targets);
    await hand.inject(new AbortController().signal);
    targets.fakeLink(name).mute = true;
    expect(await hand.heal()).toMatchObject({ healed: false });
  });
});

describe('link-toxic', () => {
  test('that loses data lands by the bytes that never left', async () => {
    const targets = fakeTargets([]);
    const link = targets.fakeLink('gateway-redis');
    link.onChange = () => { link.move(90, 40); };
    const { proof, heal } = await live('link-toxic@link=gateway-redis,type=timeout', targets);
    expect(proof).toMatchObject({ landed: true });
    expect(proof.observed).toContain('50 B downstream never left');
    expect(heal.healed).toBe(true);
    expect(link.toxics).toEqual([]);
  });

  test('that loses data does not land when all bytes passed', async () => {
    const targets = fakeTargets([]);
    const link = targets.fakeLink('gateway-redis');
    link.onChange = () => { link.move(90, 90); };
    expect((await live('link-toxic@link=gateway-redis,type=limit_data,bytes=0', targets)).proof.landed).toBe(false);
  });

  test.each([
    ['gateway.before-reserve', true],
    ['gateway.admitted', false],
  ] as const)('that delays: %s reached → landed %s', async (step, landed) => {
    const role = new FakeRole('gateway-1');
    const targets = fakeTargets([role]);
    // Once armed, steps go by.
    targets.fakeLink('gateway-redis').onChange = () => { setImmediate(() => { role.steps = { [step]: 4 }; }); };
    expect((await live('link-toxic@link=gateway-redis,type=latency,latency=100', targets)).proof.landed).toBe(landed);
  });
});

describe('freeze-role', () => {
  test('lands when the process stood still', async () => {
    const role = new FakeRole('consumer-1');
    const { proof, heal } = await live('freeze-role@role=consumer-1,s=1', fakeTargets([role]));
    expect(proof.landed).toBe(true);
    expect(heal.healed).toBe(true);
    expect(role.paused).toBe(false);
  });

  test('does not land when the process went on', async () => {
    const role = new FakeRole('consumer-1');
    const { hand, clock } = begin('freeze-role@role=consumer-1,s=1', fakeTargets([role]));
    const injecting = hand.inject(new AbortController().signal);
    while (clock.nowUs < 1_500_000) await clock.wait(10);
    role.steps = { 'consumer.received': 1 };
    await injecting;
    await hand.heal();
    expect((await hand.prove()).landed).toBe(false);
  });

  test('does not land on a process that is not there', async () => {
    expect((await live('freeze-role@role=consumer-2', fakeTargets([new FakeRole('consumer-1')]))).proof).toMatchObject({ landed: false, observed: 'no process consumer-2 runs' });
  });
});

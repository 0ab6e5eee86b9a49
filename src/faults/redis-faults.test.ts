// redis-failover and tamper-redis against fake targets: landed only with the loss counted, healed only by what was seen.
import { expect, test } from 'vitest';

import { FakeRole, fakeClock, fakeTargets, type FakeTargets } from './fake-targets.test-support.js';
import type { FaultInHand } from './fault.js';
import { parseFaultOption } from './registry.js';

function begin(option: string, targets: FakeTargets): FaultInHand {
  const parsed = parseFaultOption(option);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  return parsed.fault.begin({ id: 'f#1', targets, clock: fakeClock() });
}

test('a failover lands when the reservations asked for are on the dead primary and not on the replica; its window begins at the first lost', async () => {
  const targets = fakeTargets([new FakeRole('gateway-1'), new FakeRole('scanner-1')]);
  const hand = begin('redis-failover@lose=20', targets);
  await hand.inject(new AbortController().signal);
  expect(targets.fakeServer('redis-primary').dead).toBe(true);
  for (const name of ['gateway-redis', 'scanner-redis'] as const) expect(targets.fakeLink(name).upstream).toEqual({ host: '127.0.0.1', port: 2 });
  expect(await hand.heal()).toMatchObject({ healed: true });
  const proof = await hand.prove();
  expect(proof).toMatchObject({ landed: true, strikes: 1, mayLose: { store: 'redis' } });
  expect((proof.mayLose?.toUs ?? 0) - (proof.mayLose?.fromUs ?? 0)).toBeGreaterThanOrEqual(1_000_000);
});

test('a failover that is stopped before enough is lost kills nothing, admits no loss and takes its toxic away', async () => {
  const targets = fakeTargets([new FakeRole('gateway-1')]);
  const stop = new AbortController();
  const hand = begin('redis-failover@lose=100000', targets);
  const injected = hand.inject(stop.signal);
  stop.abort();
  await injected;
  expect(targets.fakeServer('redis-primary').dead).toBe(false);
  expect(await hand.heal()).toMatchObject({ healed: true });
  expect(targets.fakeLink('replication' as never).toxics).toEqual([]);
  expect(await hand.prove()).toMatchObject({ landed: false, mayLose: null });
});

test('a failover that is interrupted between the kill and the promotion is completed by its healing', async () => {
  const targets = fakeTargets([new FakeRole('gateway-1')]);
  const hand = begin('redis-failover@lose=5', targets);
  const { promoteReplica } = targets.redis;
  targets.redis.promoteReplica = () => Promise.reject(new Error('not now'));
  await expect(hand.inject(new AbortController().signal)).rejects.toThrow('not now');
  targets.redis.promoteReplica = promoteReplica;
  expect(await hand.heal()).toMatchObject({ healed: true });
});

test.each([[0, true], [1, false]])('tampering is healed when each repair is on record: %i per kind missing', async (unrepaired, healed) => {
  const targets = fakeTargets([]);
  targets.unrepaired = unrepaired;
  const hand = begin('tamper-redis@kind=all,n=3', targets);
  await hand.inject(new AbortController().signal);
  expect((await hand.heal()).healed).toBe(healed);
  expect(await hand.prove()).toMatchObject({ landed: true, strikes: 7 });
});

test('tampering that finds too few orders to spoil has not landed', async () => {
  const targets = fakeTargets([]);
  targets.tampering.tamper = () => Promise.resolve([]);
  const hand = begin('tamper-redis@kind=user-mark-missing,n=3', targets);
  await hand.inject(new AbortController().signal);
  expect(await hand.prove()).toMatchObject({ landed: false, strikes: 0 });
});

test.each([true, false])('a Redis that calls itself another server is healed when somebody rebuilds it: %s', async (rebuilds) => {
  const targets = fakeTargets([]);
  targets.rebuilds = rebuilds;
  const hand = begin('foreign-redis@t=1s', targets);
  await hand.inject(new AbortController().signal);
  expect((await hand.heal()).healed).toBe(rebuilds);
  expect(await hand.prove()).toMatchObject({ landed: true, strikes: 1 });
});

test('a failover lasts until the promoted server bears its own mark, and a tail that is lost until the restarted one does', async () => {
  for (const option of ['redis-failover@lose=20', 'redis-tail-loss@s=1,lose=20']) {
    const targets = fakeTargets([new FakeRole('gateway-1'), new FakeRole('reconciler-1')]);
    let looks = 0;
    targets.tampering.mirrorMark = () => Promise.resolve({ isOwn: (looks += 1) > 4, epoch: 1 });
    const hand = begin(option, targets);
    await hand.inject(new AbortController().signal);
    await hand.heal();
    const proof = await hand.prove();
    expect(looks).toBe(5);
    expect((proof.outage?.toUs ?? 0) - (proof.outage?.fromUs ?? 0)).toBeGreaterThan(0);
    expect(proof.observed).toMatch(/another server's mark on it until \d+\.\d\d s after the kill, then its own$/);
  }
});

test('where nobody rebuilds, one look is enough; where nobody was seen to be a stranger, there is no outage to tell of', async () => {
  const alone = fakeTargets([new FakeRole('gateway-1')]);
  alone.tampering.mirrorMark = () => Promise.resolve({ isOwn: false, epoch: 1 });
  const hand = begin('redis-failover@lose=20', alone);
  await hand.inject(new AbortController().signal);
  expect((await hand.prove()).observed).toMatch(/never its own while somebody looked$/);
  const unseen = fakeTargets([new FakeRole('reconciler-1')]);
  unseen.tampering.mirrorMark = () => Promise.resolve({ isOwn: true, epoch: 2 });
  const quick = begin('redis-failover@lose=20', unseen);
  await quick.inject(new AbortController().signal);
  expect(await quick.prove()).not.toHaveProperty('outage');
});

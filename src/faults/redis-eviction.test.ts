// Keys that Redis threw away: landed by what the system never takes away itself, and losing only what was not known to be sent.
import { describe, expect, test } from 'vitest';

import { fakeTargets } from './fake-targets.test-support.js';
import { live } from './fault-in-hand.test-support.js';

describe('redis-eviction', () => {
  test.each([
    ['stock', { stock: false }, false],
    ['meta', { meta: false }, false],
    ['requests', { records: 3 }, true],
    ['users', { marks: 0 }, false],
    ['pending', { waiting: 0, waitingMissing: 2 }, true],
    // Made anew by the next reservation before anybody looks: its entries before are gone all the same.
    ['stock, pending', { stock: false, waiting: 1, waitingMissing: 2 }, true],
  ] as const)('%s thrown away: landed, and may lose reservations by its own admission', async (key, left, loses) => {
    const targets = fakeTargets([]);
    const { fakeMemory } = targets;
    fakeMemory.onFill = () => Object.assign(fakeMemory, { evictions: 2, kept: { ...fakeMemory.kept, ...left } });
    const { proof, heal } = await live('redis-eviction', targets);
    expect(proof).toMatchObject({ landed: true, observed: `2 keys evicted; of the run: ${key}` });
    expect(proof.mayLose !== null).toBe(loses);
    expect(heal.healed).toBe(true);
    expect(fakeMemory.policy).toBe('noeviction');
  });

  test.each([
    ['nothing', {}],
    ['an index that is empty because all have their result', { waiting: 0, marksDue: 3 }],
    ['marks that went with the units given back', { marks: 0, marksDue: 0 }],
    ['entries that were missing before', { waiting: 0, waitingMissing: 1 }],
  ])('does not land by %s, and gives the memory back all the same', async (_, left) => {
    const targets = fakeTargets([]);
    const { fakeMemory } = targets;
    fakeMemory.kept = { ...fakeMemory.kept, waitingMissing: 1 };
    fakeMemory.onFill = () => Object.assign(fakeMemory, { evictions: 9, kept: { ...fakeMemory.kept, ...left } });
    expect((await live('redis-eviction', targets)).proof).toMatchObject({ landed: false, mayLose: null, observed: '9 keys evicted; of the run: nothing for sure' });
    expect(fakeMemory.policy).toBe('noeviction');
  });

  test('lands also where Redis is too full to say more than what is left', async () => {
    const targets = fakeTargets([]);
    const { fakeMemory } = targets;
    const books = fakeMemory.books.bind(fakeMemory);
    let fillings = 0;
    fakeMemory.onFill = () => {
      fillings += 1;
      fakeMemory.books = () => (fakeMemory.policy === 'noeviction' ? books() : Promise.reject(new Error('OOM')));
      Object.assign(fakeMemory, { evictions: 5, kept: { ...fakeMemory.kept, waiting: 0, ...(fillings > 3 ? { stock: false } : {}) } });
    };
    expect((await live('redis-eviction', targets)).proof).toMatchObject({ landed: true, observed: '5 keys evicted; of the run: stock' });
    expect(fillings).toBe(4);
  });

  test('does not land when Redis counts no eviction', async () => {
    const targets = fakeTargets([]);
    const { fakeMemory } = targets;
    fakeMemory.onFill = () => Object.assign(fakeMemory, { kept: { ...fakeMemory.kept, stock: false } });
    expect((await live('redis-eviction', targets)).proof.landed).toBe(false);
  });

  test('its window begins with the first reservation that was not known to be sent', async () => {
    const targets = fakeTargets([]);
    const { fakeMemory } = targets;
    // The clock begins at 1,000 ms; a reservation is stamped up to 1 s before Redis makes it.
    fakeMemory.kept = { ...fakeMemory.kept, unsentAtMs: [970, 940] };
    fakeMemory.onFill = () => Object.assign(fakeMemory, { evictions: 1, kept: { ...fakeMemory.kept, records: 0 } });
    const early = (await live('redis-eviction', targets)).proof.mayLose;
    expect(early).toEqual({ store: 'redis', fromUs: -60_000, toUs: 1_000_000 });
    const later = fakeTargets([]);
    later.fakeMemory.onFill = () => Object.assign(later.fakeMemory, { evictions: 1, kept: { ...later.fakeMemory.kept, records: 0 } });
    expect((await live('redis-eviction', later)).proof.mayLose).toMatchObject({ fromUs: 0 });
  });
});

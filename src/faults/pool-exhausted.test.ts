// No connection to PostgreSQL: landed when new ones are refused and the roles have none, or when one look finds a role's whole pool stuck and work waiting.
import { describe, expect, test } from 'vitest';

import type { LockWaiter } from '../facts/database-target.js';
import { FakeRole, fakeTargets } from './fake-targets.test-support.js';
import { live } from './fault-in-hand.test-support.js';

describe('pool-exhausted', () => {
  test('of the server lands while it refuses and the roles have no session', async () => {
    const targets = fakeTargets([]);
    const { proof, heal } = await live('pool-exhausted@s=1', targets);
    expect(proof.landed).toBe(true);
    expect(heal.healed).toBe(true);
    expect(targets.fakeDatabase.held).toBe(0);
  });

  test('does not land when a role got a connection back', async () => {
    const targets = fakeTargets([]);
    targets.fakeDatabase.rolesComeBack = 1;
    expect((await live('pool-exhausted@s=1', targets)).proof.landed).toBe(false);
  });

  const labels = 'role="payment",instance="payment-1"';
  const poolOf = (total: number, waiting: number, pool = 'main'): Record<string, number> => ({ [`database_pool_total{pool="${pool}",${labels}}`]: total, [`database_pool_waiting{pool="${pool}",${labels}}`]: waiting });
  const stuck = (count: number, application = 'payment-1'): LockWaiter[] => Array.from({ length: count }, (_, index) => ({ application, processId: 3 + index, holds: [] }));

  test.each([
    ['all of its connections stuck and work waiting', stuck(2), poolOf(2, 3), true],
    ['no work waiting', stuck(2), poolOf(2, 0), false],
    ['a connection that is not stuck', stuck(1), poolOf(2, 3), false],
    ['the sessions of its figures stuck instead', stuck(2, 'payment-1-figures'), poolOf(2, 3), false],
    ['work that waits for another pool', stuck(2), { ...poolOf(2, 0), ...poolOf(2, 3, 'tasks') }, false],
    ['metrics that do not come', stuck(2), {}, false],
  ] as const)('of a role, %s', async (_, waiting, figures, landed) => {
    const role = new FakeRole('payment-1');
    role.figures = { ...figures };
    const targets = fakeTargets([role]);
    targets.fakeDatabase.waiting = waiting;
    expect((await live('pool-exhausted@mode=role,s=1', targets)).proof.landed).toBe(landed);
    expect((await live('pool-exhausted@mode=role,s=1,role=payment-2', targets)).proof.landed).toBe(false);
    expect(targets.fakeDatabase.held).toBe(0);
  });

  test('of a role, stuck in one look and waiting in another: not landed', async () => {
    const role = new FakeRole('payment-1');
    const targets = fakeTargets([role]);
    let looks = 0;
    role.metrics = () => {
      targets.fakeDatabase.waiting = stuck(looks % 2 === 0 ? 0 : 2);
      looks += 1;
      return Promise.resolve(poolOf(2, looks % 2 === 0 ? 3 : 0));
    };
    targets.fakeDatabase.waiting = stuck(2);
    expect((await live('pool-exhausted@mode=role,s=1', targets)).proof.landed).toBe(false);
    expect(looks).toBeGreaterThan(3);
  });
});

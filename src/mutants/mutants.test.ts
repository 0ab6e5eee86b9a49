// What can be said about mutants without servers: they name judges, change only the role they mean, and their texts still fit.
import { expect, test } from 'vitest';

import { namespaceOf } from '../domain/namespace.js';
import { encodeOrderMessage, parseOrderMessage, type OrderMessage } from '../domain/order-message.js';
import { DEFAULT_TUNING, type RoleConfig } from '../domain/role-config.js';
import { ROLE_NAMES, type RoleName } from '../domain/roles.js';
import { INVARIANTS } from '../invariants/registry.js';
import { SCENARIOS } from '../scenarios/registry.js';
import type { LogMessage, LogProducer } from '../system/order-log/order-log-port.js';
import { loadStatements } from '../system/ledger/sql-loader.js';
import { inboxOff } from './inbox-off.js';
import { newMessageIdOnResend } from './new-message-id-on-resend.js';
import { forgetfulReserveScript, noUniqueKey } from './no-unique-key.js';
import { MUTANTS, findMutant } from './registry.js';

function configOf(role: RoleName): RoleConfig {
  const nowhere = { host: '127.0.0.1', port: 1 };
  return {
    role, instance: `${role}-1`, namespace: namespaceOf('m'), addresses: { redis: nowhere, kafka: nowhere, postgres: { ...nowhere, user: '', password: '' } },
    listen: nowhere, activityId: '1', skuIds: ['1'], strategies: { consumer: 'single', allocator: 'row' }, tuning: DEFAULT_TUNING,
  };
}

test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('%s names a judge and a scenario, and changes one role', (name, mutant) => {
  expect(findMutant(name)).toBe(mutant);
  expect(INVARIANTS.map((invariant) => invariant.name)).toContain(mutant.caughtBy);
  expect(SCENARIOS.map((scenario) => scenario.name)).toContain(mutant.showsUnder);
  expect(ROLE_NAMES.filter((role) => Object.keys(mutant.overrides(configOf(role))).length > 0)).toHaveLength(1);
});

test('an unknown name is a bug', () => {
  expect(() => findMutant('perfect')).toThrow('there is no mutant "perfect"');
});

test('inbox-off takes the parameters of the real statements', () => {
  const real = loadStatements();
  const wrong = inboxOff.overrides(configOf('consumer')).statements ?? {};
  for (const name of ['insert_inbox', 'update_inbox_results'] as const) {
    const parameters = (text: string): string[] => [...new Set(text.replaceAll(/^--.*$/gm, '').match(/\$[0-9]+/g))].sort();
    expect(parameters(wrong[name] ?? '')).toEqual(parameters(real[name].text));
    expect(wrong[name]).not.toMatch(/insert|update|delete/i);
  }
});

test('new-message-id-on-resend changes the message id and nothing else', async () => {
  const message: OrderMessage = {
    schemaVersion: 1, messageId: '018f0000-0000-7000-8000-000000000001', reservationId: '018f0000-0000-7000-8000-000000000002', requestId: 'r', activityId: '1', activityVersion: '1',
    skuId: '2', userId: '3', purchaseNo: 1, quantity: 1, payloadHash: 'ab'.repeat(32), reservedAtMs: 1, expiresAtMs: 2,
  };
  const sent: LogMessage[] = [];
  const real: LogProducer = {
    send: (_, each) => {
      sent.push(each);
      return Promise.resolve({ outcome: 'sent', reason: null });
    },
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  const wrapped = newMessageIdOnResend.overrides(configOf('scanner')).wrap?.producer?.(real);
  await wrapped?.send('t', { key: 'k', value: encodeOrderMessage(message) });
  const parsed = parseOrderMessage(sent[0]?.value ?? '');
  if (!parsed.ok) throw new Error(parsed.problems.join());
  expect(parsed.message.messageId).not.toBe(message.messageId);
  expect({ ...parsed.message, messageId: message.messageId }).toEqual(message);
});

test('no-unique-key deletes the marks that the real script sets, and drops a key that exists', () => {
  expect(forgetfulReserveScript()).toMatch(/HSET', KEYS\[4\][\s\S]*HDEL', KEYS\[4\], unpack\(users\)\) end\nreturn reply\n$/);
  expect(noUniqueKey.sql).toEqual(['ALTER TABLE orders DROP CONSTRAINT uq_orders_user_sku']);
});

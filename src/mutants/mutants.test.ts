// What can be said about mutants without servers: they name judges, change only the role they mean, and their texts still fit.
import { existsSync } from 'node:fs';

import { expect, test } from 'vitest';

import { namespaceOf } from '../domain/namespace.js';
import { encodeOrderMessage, parseOrderMessage, type OrderMessage } from '../domain/order-message.js';
import { DEFAULT_TUNING, type RoleConfig } from '../domain/role-config.js';
import { ROLE_NAMES, type RoleName } from '../domain/roles.js';
import { parseFaultOption } from '../faults/registry.js';
import { INVARIANTS } from '../invariants/registry.js';
import { SHARED_JUDGES } from '../lab/mutants/shared-judges.js';
import { SCENARIOS } from '../scenarios/registry.js';
import type { LogMessage, LogProducer } from '../system/order-log/order-log-port.js';
import { loadMigrations, loadStatements } from '../system/ledger/sql-loader.js';
import { loadScripts } from '../system/stock/script-loader.js';
import { newMessageIdOnResend } from './new-message-id-on-resend.js';
import { forgetfulReserveScript, noUniqueKey } from './no-unique-key.js';
import { MUTANT_PLANS } from './plans/registry.js';
import { MUTANTS, findMutant } from './registry.js';

function configOf(role: RoleName): RoleConfig {
  const nowhere = { host: '127.0.0.1', port: 1 };
  return {
    role, instance: `${role}-1`, namespace: namespaceOf('m'), addresses: { redis: nowhere, kafka: nowhere, postgres: { ...nowhere, user: '', password: '' } },
    listen: nowhere, activityId: '1', skuIds: ['1'], strategies: { consumer: 'single', allocator: 'row' }, tuning: DEFAULT_TUNING,
  };
}

test.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('%s names a judge, a paper and a run, and changes some role', (name, mutant) => {
  expect(findMutant(name)).toBe(mutant);
  expect(existsSync(new URL(`${name}.ts`, import.meta.url))).toBe(true);
  expect(INVARIANTS.map((invariant) => invariant.name)).toContain(mutant.caughtBy);
  expect(mutant.showsUnder.invariants).toContain(mutant.caughtBy);
  expect(MUTANT_PLANS).toContain(mutant.showsUnder);
  expect(mutant.warnedBy).toMatch(/^(00[0134] §[0-9]+(\.[0-9]+)?|decision [0-9]{4})/);
  const running = ROLE_NAMES.filter((role) => (mutant.showsUnder.roles[role] ?? 0) > 0);
  const changed = ROLE_NAMES.filter((role) => Object.keys(mutant.overrides(configOf(role))).length > 0);
  expect(changed.length).toBeGreaterThan(0);
  expect(running).toEqual(expect.arrayContaining(changed));
});

const parametersOf = (text: string): string[] => [...new Set(text.replaceAll(/^--.*$/gm, '').match(/\$[0-9]+/g))].sort();
const everyOverride = MUTANTS.flatMap((mutant) => ROLE_NAMES.map((role) => [mutant.name, role, mutant.overrides(configOf(role))] as const));

test.each(everyOverride.filter(([, , { statements }]) => statements !== undefined))('%s: its statements of the %s take the parameters of the real ones', (_name, _role, { statements }) => {
  const real = loadStatements();
  for (const [name, text] of Object.entries(statements ?? {})) {
    expect(Object.keys(real)).toContain(name);
    const right = real[name as keyof typeof real].text;
    expect(parametersOf(text)).toEqual(parametersOf(right));
    expect(text.trim()).not.toBe(right.trim());
  }
});

test.each(everyOverride.filter(([, , { scripts }]) => scripts !== undefined))('%s: its scripts of the %s take the keys of the real ones', (_name, _role, { scripts }) => {
  for (const [name, text] of Object.entries(scripts ?? {})) {
    const right = loadScripts().find((script) => script.name === name);
    expect(Math.max(...[...text.matchAll(/KEYS\[(\d+)\]/g)].map((match) => Number(match[1])))).toBeLessThanOrEqual(right?.numberOfKeys ?? 0);
    expect(text.trim()).not.toBe(right?.source.trim());
  }
});

test('every constraint that a mutant drops exists', () => {
  const schema = loadMigrations().map((migration) => migration.text).join('\n');
  const dropped = MUTANTS.flatMap((mutant) => mutant.sql.flatMap((statement) => /DROP CONSTRAINT (\w+)/.exec(statement)?.[1] ?? []));
  expect(dropped.length).toBeGreaterThan(0);
  for (const name of dropped) expect(schema).toMatch(new RegExp(`CONSTRAINT ${name} `));
});

test('every judge is named by some mutant, or says why it need not be', () => {
  const named = new Set(MUTANTS.map(({ caughtBy }) => caughtBy));
  expect(INVARIANTS.map(({ name }) => name).filter((name) => !named.has(name) && SHARED_JUDGES[name] === undefined)).toEqual([]);
  // Some that are named are never alone in noticing, and say so as well; a reason of a judge that does not exist is out of date.
  expect(Object.keys(SHARED_JUDGES).filter((name) => !INVARIANTS.some((judge) => judge.name === name))).toEqual([]);
});

test('every plan is some mutant’s, has a name of its own, and only faults that can be bound', () => {
  expect(MUTANT_PLANS.filter((plan) => !MUTANTS.some((mutant) => mutant.showsUnder === plan)).map((plan) => plan.name)).toEqual([]);
  const names = [...MUTANT_PLANS, ...SCENARIOS].map((plan) => plan.name);
  expect(new Set(names).size).toBe(names.length);
  for (const plan of MUTANT_PLANS) for (const fault of plan.faults) expect([plan.name, parseFaultOption(fault)]).toMatchObject([plan.name, { ok: true }]);
  for (const plan of MUTANT_PLANS) for (const name of plan.invariants) expect(INVARIANTS.map((invariant) => invariant.name)).toContain(name);
});

test('an unknown name is a bug', () => {
  expect(() => findMutant('perfect')).toThrow('there is no mutant "perfect"');
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

// From poison to its end on real servers: consumer, undertaker, relay and projector over Kafka, PostgreSQL and Redis (CASES C22).
import { expect, test, vi } from 'vitest';

import { encodeOrderMessage } from '../../domain/order-message.js';
import { atStep, message } from '../ledger/ledger-case.test-support.js';
import { openDeadLetterCase, type DeadLetterCase } from './dead-letter-case.test-support.js';

const until = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 30_000, interval: 100 });
const rows = (test: DeadLetterCase) =>
  test.fresh.client.query<Record<string, unknown>>('select cause, attempts, status::int, resolution, reservation_id::text from dead_letter order by dead_letter_id').then((result) => result.rows);

test('C22: one malformed and one always-failing among 1,000: 998 orders, two dead letters, their two units back once', async () => {
  await using here = await openDeadLetterCase(1_500);
  await here.refuseBad();
  const good = await here.reserve(1_000);
  expect(await here.redisStock()).toBe(500);
  const [bad, broken] = [good[321], good[654]];
  if (bad === undefined || broken === undefined) throw new Error('1,000 were reserved');
  await here.fresh.client.query(`alter table orders add constraint no_such_user check (user_id <> ${bad.userId})`);
  const values = good.map((each) => (each === broken ? encodeOrderMessage(each).replace('"quantity":1', '"quantity":"many"') : each));
  for (const role of ['consumer', 'undertaker', 'relay', 'projector'] as const) await here.start(role);
  await here.produce(values);

  await until(async () => { expect(await here.redisStock()).toBe(502); });
  expect([await here.fresh.count('orders'), await here.fresh.held(), await here.fresh.count('consumer_inbox')]).toEqual([998, 998, 998]);
  const letters = (await here.letters()).toSorted((one, other) => Number(one.originOffset) - Number(other.originOffset));
  expect(letters).toMatchObject([
    { originTopic: here.fresh.config.namespace.ordersTopic, originPartition: 0, originOffset: '321', cause: 'REFUSED', attempts: 3, reservationId: bad.reservationId, messageId: bad.messageId },
    { originOffset: '654', cause: 'MALFORMED', attempts: 1, reservationId: broken.reservationId, detail: 'quantity is missing or malformed' },
  ]);
  expect(letters[0]?.detail).toMatch(/^23514 .*no_such_user/);
  expect(letters[1]?.value).toEqual({ encoding: 'utf8', text: values[654] });
  expect(await rows(here)).toEqual([
    { cause: 'REFUSED', attempts: 3, status: 20, resolution: 'RELEASED', reservation_id: bad.reservationId },
    { cause: 'MALFORMED', attempts: 1, status: 20, resolution: 'RELEASED', reservation_id: broken.reservationId },
  ]);
  expect(await here.fresh.count('inventory_reservation', "status = 50 and failure_code = 'REJECTED_UNPROCESSABLE'")).toBe(2);
  // The same poison once more: nothing new comes of it but letters, and no unit goes back twice.
  await here.produce([bad, values[654] ?? '']);
  await until(async () => { expect(await here.fresh.count('dead_letter')).toBe(3); });
  await until(async () => { expect(await here.fresh.count('consumer_inbox')).toBe(999); });
  expect([await here.redisStock(), await here.fresh.count('event_outbox', "tag = 'RESERVATION_RELEASED'")]).toEqual([502, 2]);
});

test('killed between the dead letter and the offset: the letter is sent twice, kept once, and nothing is lost', async () => {
  await using here = await openDeadLetterCase(10);
  const [one, two] = await here.reserve(2);
  if (one === undefined || two === undefined) throw new Error('two were reserved');
  await here.start('undertaker');
  await here.start('consumer', { observer: atStep('consumer.after-dead-letter', (hit) => {
    if (hit === 1) throw new Error('killed here');
  }) });
  await here.produce(['no message', one, two]);
  await until(async () => { expect(await here.letters()).toHaveLength(2); });
  expect(new Set((await here.letters()).map(({ originOffset }) => originOffset))).toEqual(new Set(['0']));
  await until(async () => { expect([await here.fresh.count('dead_letter'), await here.fresh.count('orders')]).toEqual([1, 2]); });
  expect(await rows(here)).toMatchObject([{ cause: 'MALFORMED', status: 0, resolution: null }]);
});

test('the undertaker killed before its COMMIT: the letter comes again and ends its reservation once', async () => {
  await using here = await openDeadLetterCase(10);
  const [broken] = await here.reserve(1);
  if (broken === undefined) throw new Error('one was reserved');
  for (const role of ['consumer', 'relay', 'projector'] as const) await here.start(role);
  await here.start('undertaker', { observer: atStep('undertaker.before-commit', (hit) => {
    if (hit <= 2) throw new Error('killed here');
  }) });
  await here.produce([JSON.stringify({ ...broken, userId: '-1' })]);
  await until(async () => { expect(await here.redisStock()).toBe(10); });
  expect([await here.fresh.count('dead_letter', 'status = 20'), await here.fresh.count('event_outbox')]).toEqual([1, 1]);
});

test('a foreign message that Redis does not know ends nobody: its letter stays open', async () => {
  await using here = await openDeadLetterCase(10);
  await here.refuseBad();
  for (const role of ['consumer', 'undertaker'] as const) await here.start(role);
  await here.produce([message({ requestId: 'bad-1' })]);
  await until(async () => { expect(await rows(here)).toMatchObject([{ cause: 'REFUSED', status: 0, resolution: null }]); });
  expect([await here.fresh.count('inventory_reservation'), await here.fresh.count('event_outbox'), await here.redisStock()]).toEqual([0, 0, 10]);
});

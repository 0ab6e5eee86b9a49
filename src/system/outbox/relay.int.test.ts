// The relay on a real PostgreSQL with a scripted broker: order per aggregate, outages on both sides, leases, several relays at once.
import { Toxiproxy } from 'toxiproxy-node-client';
import { afterEach, expect, inject, test, vi } from 'vitest';

import type { OrderEvent } from '../../domain/order-event.js';
import { silentStepObserver, type StepObserver } from '../../domain/steps.js';
import { atStep, messages, openCase, type LedgerCase } from '../ledger/ledger-case.test-support.js';
import type { LogMessage, LogProducer, SendResult } from '../order-log/order-log-port.js';
import { createOutboxStore, type OutboxStore } from './outbox-store.js';
import { startRelay } from './relay.js';

const { lanes, direct } = inject('stack');
const [lane] = lanes;
if (lane === undefined) throw new Error('the stack has no lane');
const link = lane.links['relay-postgres'];
const toxiproxy = new Toxiproxy(`http://${direct.toxiproxyApi.host}:${String(direct.toxiproxyApi.port)}`);
const proxyName = lane.proxies['relay-postgres'];

async function setEnabled(enabled: boolean): Promise<void> {
  const proxy = await toxiproxy.get(proxyName);
  await proxy.update({ ...proxy.toJson(), enabled });
}

afterEach(async () => {
  await setEnabled(true);
});

class ScriptedBroker implements LogProducer {
  readonly stored: { readonly topic: string; readonly message: LogMessage; readonly event: OrderEvent }[] = [];
  answer: (event: OrderEvent) => SendResult = () => ({ outcome: 'sent', reason: null });

  send(topic: string, message: LogMessage): Promise<SendResult> {
    const event = JSON.parse(message.value) as OrderEvent;
    const result = this.answer(event);
    // An unknown outcome is the case in which the broker did store it.
    if (result.outcome !== 'surely-not-sent') this.stored.push({ topic, message, event });
    return Promise.resolve(result);
  }

  ready(): Promise<boolean> {
    return Promise.resolve(true);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const down: SendResult = { outcome: 'surely-not-sent', reason: 'ECONNREFUSED' };

interface RelaySpec {
  readonly observer?: StepObserver;
  readonly number?: number;
  readonly throughProxy?: boolean;
  readonly wrap?: (store: OutboxStore) => OutboxStore;
}

async function relay(fresh: LedgerCase, broker: LogProducer, spec: RelaySpec = {}): Promise<void> {
  const postgres = spec.throughProxy === true ? { ...fresh.config.addresses.postgres, ...link } : fresh.config.addresses.postgres;
  const config = { ...fresh.config, role: 'relay', instance: `relay-${spec.number ?? 1}`, addresses: { ...fresh.config.addresses, postgres } } as const;
  const surroundings = fresh.surroundings(spec.observer ?? silentStepObserver);
  const store = createOutboxStore(config, surroundings);
  const role = await startRelay({ producer: broker, store: spec.wrap?.(store) ?? store, metrics: fresh.metrics }, config, surroundings);
  fresh.closeAtEnd(() => role.stop());
}

const allSent = async (fresh: LedgerCase): Promise<boolean> => (await fresh.count('event_outbox', "status <> 20 and tag <> 'ORDER_CLOSE_DUE'")) === 0;
const untilAllSent = (fresh: LedgerCase): Promise<unknown> => vi.waitUntil(() => allSent(fresh), { timeout: 20_000, interval: 20 });

/** A second event of every aggregate, as a payment would write it. */
async function addPaidEvents(fresh: LedgerCase): Promise<void> {
  await fresh.client.query(`insert into event_outbox (event_id, dedup_key, aggregate_type, aggregate_id, aggregate_version, topic, tag, message_key, schema_version, payload)
    select gen_random_uuid(), 'ORDER_PAID:' || aggregate_id, aggregate_type, aggregate_id, 2, topic, 'ORDER_PAID', message_key, 1, payload || '{"aggregateVersion": 2, "type": "ORDER_PAID"}' from event_outbox where tag = 'ORDER_CREATED'`);
}

test('a timer waits for its time on its own topic, and holds nothing back', async () => {
  await using fresh = await openCase({ stock: 5 });
  await fresh.ledger().createOrders(messages(3));
  await addPaidEvents(fresh);
  const broker = new ScriptedBroker();
  await relay(fresh, broker);
  await untilAllSent(fresh);
  expect(broker.stored).toHaveLength(6);
  expect(await fresh.count('event_outbox', "status = 0 and tag = 'ORDER_CLOSE_DUE'")).toBe(3);
  await vi.waitUntil(async () => (await fresh.metric('seckill_outbox_unsent')) === 0, { timeout: 5_000, interval: 50 });
  await fresh.client.query("update event_outbox set available_at = now() where status = 0");
  await vi.waitUntil(() => broker.stored.length === 9, { timeout: 5_000 });
  expect(broker.stored.slice(6).map(({ topic, event }) => [topic, event.type])).toEqual(Array(3).fill([fresh.config.namespace.closesTopic, 'ORDER_CLOSE_DUE']));
});

test('an event is sent to its topic under its aggregate, as written, and is SENT afterwards', async () => {
  await using fresh = await openCase({ stock: 5 });
  const [asked] = messages(1);
  if (asked === undefined) throw new Error('one message');
  await fresh.ledger().createOrders([asked]);
  const broker = new ScriptedBroker();
  await relay(fresh, broker);
  await untilAllSent(fresh);
  const order = await fresh.one<{ order_id: string }>('select order_id from orders');
  expect(broker.stored).toHaveLength(1);
  const [sent] = broker.stored;
  expect(sent?.topic).toBe(fresh.config.namespace.eventsTopic);
  expect(sent?.message.key).toBe(asked.reservationId);
  expect(sent?.message.headers).toEqual({ eventId: sent?.event.eventId, type: 'ORDER_CREATED' });
  expect(sent?.event).toEqual({
    schemaVersion: 1, eventId: sent?.event.eventId, type: 'ORDER_CREATED', aggregateId: asked.reservationId, aggregateVersion: 1, reservationId: asked.reservationId, requestId: asked.requestId,
    activityId: asked.activityId, skuId: asked.skuId, userId: asked.userId, orderId: order.order_id, reason: null, returnsUnit: false, clearsUserMark: false,
  });
  expect(await fresh.count('event_outbox', 'sent_at is not null and locked_by is null and retry_count = 0')).toBe(1);
});

test('a relay that lingers begins late, and then goes on without a pause', async () => {
  await using fresh = await openCase({ stock: 2_000, tuning: { relayLingerMs: 2_000 } });
  const ledger = fresh.ledger();
  const broker = new ScriptedBroker();
  await relay(fresh, broker);
  const madeAtMs = performance.now();
  await ledger.createOrders(messages(1));
  await vi.waitUntil(() => broker.stored.length > 0, { timeout: 5_000, interval: 5 });
  // By PostgreSQL's clock since the event was made; two clocks of one machine differ by less than this.
  expect(performance.now() - madeAtMs).toBeGreaterThan(1_990);
  await untilAllSent(fresh);
  await ledger.createOrders(messages(1_500));
  await untilAllSent(fresh);
  // Three pages: a pause before each would be two between the first and the last, four seconds; three pages take a tenth of one.
  expect(await fresh.one(`select extract(epoch from max(sent_at) - min(sent_at)) < 3.9 as "withoutPause"
    from event_outbox where tag = 'ORDER_CREATED' and created_at = (select max(created_at) from event_outbox)`)).toEqual({ withoutPause: true });
});

test('three relays share 1,500 events: each is sent exactly once', async () => {
  await using fresh = await openCase({ stock: 1_500 });
  const ledger = fresh.ledger();
  for (let round = 0; round < 3; round++) await ledger.createOrders(messages(500));
  const broker = new ScriptedBroker();
  for (const number of [1, 2, 3]) await relay(fresh, broker, { number });
  await untilAllSent(fresh);
  expect(broker.stored).toHaveLength(1_500);
  expect(new Set(broker.stored.map(({ event }) => event.eventId)).size).toBe(1_500);
});

test('C33: broker down, three relays: nothing is SENT or DEAD; afterwards every order is created before it is paid', async () => {
  await using fresh = await openCase({ stock: 50 });
  await fresh.ledger().createOrders(messages(50));
  await addPaidEvents(fresh);
  const broker = new ScriptedBroker();
  broker.answer = () => down;
  for (const number of [1, 2, 3]) await relay(fresh, broker, { number });
  await vi.waitUntil(async () => (await fresh.count('event_outbox', 'retry_count >= 3')) >= 50, { timeout: 20_000 });
  expect(await fresh.count('event_outbox', 'status in (20, 40)')).toBe(0);
  // Nothing of version 2 was even tried while its version 1 is unsent.
  expect(await fresh.count('event_outbox', 'aggregate_version = 2 and retry_count > 0')).toBe(0);
  // Half of the answers are lost at first: those events come twice, never out of order.
  let answers = 0;
  broker.answer = () => (++answers % 2 === 0 && answers < 60 ? { outcome: 'unknown', reason: 'RequestTimeout' } : { outcome: 'sent', reason: null });
  await untilAllSent(fresh);
  const aggregates = new Set(broker.stored.map(({ event }) => event.aggregateId));
  expect(aggregates.size).toBe(50);
  for (const aggregate of aggregates) {
    const sequence = broker.stored.filter(({ event }) => event.aggregateId === aggregate).map(({ event }) => event.aggregateVersion);
    expect(sequence).toEqual(sequence.toSorted());
    expect(new Set(sequence)).toEqual(new Set([1, 2]));
  }
  expect(broker.stored.length).toBeGreaterThan(100);
});

test('after its last try an event is DEAD, visibly, and holds back the later ones of its aggregate', async () => {
  await using fresh = await openCase({ stock: 2 });
  await fresh.ledger().createOrders(messages(2));
  await addPaidEvents(fresh);
  const poison = (await fresh.one<{ id: string }>('select aggregate_id as id from event_outbox limit 1')).id;
  await fresh.client.query('update event_outbox set max_retry = 2');
  const broker = new ScriptedBroker();
  broker.answer = (event) => (event.aggregateId === poison ? { outcome: 'surely-not-sent', reason: 'MESSAGE_TOO_LARGE' } : { outcome: 'sent', reason: null });
  await relay(fresh, broker);
  await vi.waitUntil(async () => (await fresh.count('event_outbox', 'status = 40')) === 1 && (await fresh.count('event_outbox', 'status = 20')) === 2, { timeout: 20_000 });
  expect(await fresh.one('select retry_count, last_error from event_outbox where status = 40')).toEqual({ retry_count: 2, last_error: 'surely-not-sent: MESSAGE_TOO_LARGE' });
  expect(await fresh.count('event_outbox', `aggregate_id = '${poison}' and aggregate_version = 2 and status = 0`)).toBe(1);
  expect(fresh.logs.some(({ level, text }) => level === 'error' && text === 'event given up after its last try')).toBe(true);
  await vi.waitUntil(async () => (await fresh.metric('seckill_outbox_dead')) === 1, { timeout: 5_000 });
});

test('a crash after the send and before the mark repeats the events and loses none', async () => {
  await using fresh = await openCase({ stock: 20, tuning: { leaseMs: 300 } });
  await fresh.ledger().createOrders(messages(20));
  const broker = new ScriptedBroker();
  let lost = 0;
  await relay(fresh, broker, { wrap: (store) => ({ ...store, markSent: (ids, claim) => (lost++ === 0 ? Promise.reject(new Error('gone')) : store.markSent(ids, claim)) }) });
  await untilAllSent(fresh);
  expect(broker.stored).toHaveLength(40);
  expect(new Set(broker.stored.map(({ event }) => event.eventId)).size).toBe(20);
  // A lease that ran out is no failed try.
  expect(await fresh.count('event_outbox', 'retry_count > 0')).toBe(0);
});

test('a relay that slept past its lease does not send what others have sent by now', async () => {
  await using fresh = await openCase({ stock: 10, tuning: { leaseMs: 200 } });
  await fresh.ledger().createOrders(messages(10));
  const sleeper = new ScriptedBroker();
  await relay(fresh, sleeper, { number: 1, observer: atStep('relay.after-claim', async (hit) => {
    if (hit === 1) await vi.waitUntil(() => allSent(fresh), { timeout: 20_000 });
  }) });
  await vi.waitUntil(async () => (await fresh.count('event_outbox', 'status = 10')) === 10, { timeout: 5_000 });
  const other = new ScriptedBroker();
  await relay(fresh, other, { number: 2 });
  // Counted by the guard, and also by the mark that would follow a send.
  await vi.waitUntil(async () => (await fresh.metric('seckill_outbox_lost_leases_total')) === 10, { timeout: 20_000 });
  expect(other.stored).toHaveLength(10);
  expect(sleeper.stored).toEqual([]);
});

test('a PostgreSQL outage in the middle is survived; nothing is DEAD or lost', async () => {
  await using fresh = await openCase({ stock: 600, tuning: { leaseMs: 300 } });
  await fresh.ledger().createOrders(messages(500));
  const broker = new ScriptedBroker();
  await relay(fresh, broker, { throughProxy: true, observer: atStep('relay.after-send', async (hit) => {
    if (hit === 1) await setEnabled(false);
  }) });
  await vi.waitUntil(() => fresh.logs.filter(({ text }) => text === 'relay round failed').length >= 4, { timeout: 20_000 });
  await fresh.ledger({ instance: 'consumer-2' }).createOrders(messages(100));
  await setEnabled(true);
  await untilAllSent(fresh);
  expect(new Set(broker.stored.map(({ event }) => event.eventId)).size).toBe(600);
  expect(await fresh.count('event_outbox', 'retry_count > 0')).toBe(0);
});

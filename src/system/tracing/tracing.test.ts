// One trace from the gateway's request to the projection, through both topics and the Outbox; and ids without any SDK.
import { trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test } from 'vitest';

import { namespaceOf } from '../../domain/namespace.js';
import type { OrderMessage } from '../../domain/order-message.js';
import { silentStepObserver } from '../../domain/steps.js';
import type { OrderLedger } from '../ledger/ledger-port.js';
import type { LogConsumer, LogMessage, LogProducer, ReceivedMessage } from '../order-log/order-log-port.js';
import type { OutboxStore } from '../outbox/outbox-store.js';
import type { StockPort } from '../stock/stock-port.js';
import { registerMemoryTracer, type MemorySpan } from './memory-tracer.test-support.js';
import { createRoleTracing, type RoleTracing } from './request-trace.js';
import { tracedConsumer, tracedLedger, tracedOutbox, tracedProducer, tracedStock } from './traced-ports.js';
import { formatTraceparent, parseTraceparent } from './traceparent.js';
import { outboxHeaders } from './tracing.js';

const namespace = namespaceOf('traces');
const sku = { activityId: '7', skuId: '70' };
const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

afterEach(() => {
  trace.disable();
});

/** A broker of two topics, and the ports around it, traced as a role would have them. */
class World {
  readonly topics = new Map<string, LogMessage[]>();
  readonly outbox: { eventId: string; key: string; headers: Readonly<Record<string, string>> }[] = [];
  readonly gateway: RoleTracing = createRoleTracing('gateway', 'gateway-1', silentStepObserver);
  readonly consumer: RoleTracing = createRoleTracing('consumer', 'consumer-1', silentStepObserver);
  readonly relay: RoleTracing = createRoleTracing('relay', 'relay-1', silentStepObserver);
  readonly projector: RoleTracing = createRoleTracing('projector', 'projector-1', silentStepObserver);

  readonly #producer: LogProducer = {
    send: async (topic, message) => {
      await Promise.resolve();
      this.topics.set(topic, [...(this.topics.get(topic) ?? []), message]);
      return { outcome: 'sent', reason: null };
    },
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };

  readonly #stock = {
    reserve: async () => {
      await Promise.resolve();
      return { outcome: 'done', decisions: [] };
    },
    project: async () => {
      await Promise.resolve();
      return [];
    },
  } as unknown as StockPort;

  producerOf(role: RoleTracing): LogProducer {
    return tracedProducer(role.tracing, this.#producer, namespace);
  }

  stockOf(role: RoleTracing): StockPort {
    return tracedStock(role.tracing, this.#stock);
  }

  /** Several requests at once, whose reserve call is one and made in the context of the first. */
  async buy(requests: readonly { readonly reservationId: string; readonly traceparent?: string }[]): Promise<void> {
    const { observer } = this.gateway;
    const stock = this.stockOf(this.gateway);
    const waiting: (() => void)[] = [];
    await Promise.all(requests.map(({ reservationId, traceparent }) =>
      this.gateway.request('POST', traceparent === undefined ? {} : { traceparent }, async () => {
        await observer.reached('gateway.admitted', [reservationId]);
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length < requests.length) return;
          void stock.reserve(sku, requests as unknown as Parameters<StockPort['reserve']>[1]).then(() => {
            for (const wake of waiting) wake();
          });
        });
        await observer.reached('gateway.after-reserve', [reservationId]);
        await this.producerOf(this.gateway).send(namespace.ordersTopic, { key: reservationId, value: '{}' });
      })));
  }

  received(topic: string): ReceivedMessage[] {
    return (this.topics.get(topic) ?? []).map(({ key, value, headers = {} }, offset) => ({ topic, partition: 0, offset: String(offset), key, value, headers }));
  }

  async consume(): Promise<void> {
    const ledger = tracedLedger(this.consumer.tracing, {
      createOrders: async (messages: readonly OrderMessage[]) => {
        await this.consumer.observer.reached('consumer.before-commit', messages.map(({ reservationId }) => reservationId));
        for (const { reservationId } of messages) this.outbox.push({ eventId: `e-${reservationId}`, key: reservationId, headers: outboxHeaders(reservationId) });
        return { outcome: 'committed', results: [] };
      },
    } as unknown as OrderLedger);
    await tracedConsumer(this.consumer.tracing, scripted(this.received(namespace.ordersTopic)), namespace).run(async (messages) => {
      await ledger.createOrders(messages.map(({ key }) => ({ reservationId: key }) as OrderMessage));
    }, () => undefined);
  }

  async relayAll(): Promise<void> {
    const store = tracedOutbox(this.relay.tracing, { claim: () => Promise.resolve(this.outbox) } as unknown as OutboxStore);
    const events = await store.claim(10, 'c');
    const ids = events.map(({ eventId }) => eventId);
    await this.relay.observer.reached('relay.after-claim', ids);
    await Promise.all(events.map(({ eventId, key, headers }) => this.producerOf(this.relay).send(namespace.eventsTopic, { key, value: '{}', headers: { ...headers, eventId } })));
    await this.relay.observer.reached('relay.after-mark', ids);
  }

  async projectAll(): Promise<void> {
    const stock = this.stockOf(this.projector);
    await tracedConsumer(this.projector.tracing, scripted(this.received(namespace.eventsTopic)), namespace).run(async (messages) => {
      const ids = messages.map(({ key }) => key);
      await this.projector.observer.reached('projector.before-apply', ids);
      await stock.project(sku, ids.map((reservationId) => ({ reservationId })) as unknown as Parameters<StockPort['project']>[1]);
    }, () => undefined);
  }
}

function scripted(messages: readonly ReceivedMessage[]): LogConsumer {
  return {
    run: (handle) => handle(messages, { heartbeat: () => Promise.resolve(), isRunning: () => true }),
    ready: () => true,
    fatal: new Promise(() => undefined),
    stop: () => Promise.resolve(),
  };
}

/** Names of the spans of a trace, from its first to the one that none follows; throws when it branches. */
function chainOf(spans: readonly MemorySpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.spanContext().traceId === traceId);
  const names: string[] = [];
  const ids = new Set(own.map((span) => span.spanContext().spanId));
  for (let span = own.find(({ parentSpanId }) => parentSpanId === null || !ids.has(parentSpanId)); span !== undefined; ) {
    names.push(span.name);
    const children: MemorySpan[] = own.filter(({ parentSpanId }) => parentSpanId === span?.spanContext().spanId);
    // The reserve call is a leaf beside the send.
    span = children.find(({ name }) => name !== 'reserve');
  }
  return names;
}

describe('one trace', () => {
  test('from the request to the projection, each request its own although all of it is done in batches', async () => {
    const spans = registerMemoryTracer();
    const world = new World();
    await world.buy([{ reservationId: 'one', traceparent: CALLER }, { reservationId: 'two' }]);
    await world.consume();
    await world.relayAll();
    await world.projectAll();

    const traces = [...new Set(spans.map((span) => span.spanContext().traceId))];
    expect(traces).toHaveLength(2);
    expect(traces).toContain('0af7651916cd43dd8448eb211c80319c');
    const whole = ['HTTP POST', 'send orders', 'process orders', 'order transaction', 'relay', 'send events', 'process events', 'project'];
    for (const traceId of traces) expect(chainOf(spans, traceId)).toEqual(whole);
    expect(spans.every(({ ended }) => ended)).toBe(true);
    expect(spans.find(({ name }) => name === 'HTTP POST')?.parentSpanId).toBe('b7ad6b7169203331');
  });

  test('the steps of the protocol are events on the spans they belong to', async () => {
    const spans = registerMemoryTracer();
    const world = new World();
    await world.buy([{ reservationId: 'one' }, { reservationId: 'two' }]);
    await world.consume();
    await world.relayAll();
    await world.projectAll();
    const events = (name: string): string[][] => spans.filter((span) => span.name === name).map((span) => span.events);
    expect(events('HTTP POST')).toEqual([['gateway.admitted', 'gateway.after-reserve'], ['gateway.admitted', 'gateway.after-reserve']]);
    expect(events('order transaction')).toEqual([['consumer.before-commit'], ['consumer.before-commit']]);
    expect(events('relay')).toEqual([['relay.after-claim', 'relay.after-mark'], ['relay.after-claim', 'relay.after-mark']]);
    expect(events('process events')).toEqual([['projector.before-apply'], ['projector.before-apply']]);
  });

  test('a message of the scanner, which has no trace, begins one', async () => {
    const spans = registerMemoryTracer();
    const world = new World();
    await world.producerOf(createRoleTracing('scanner', 'scanner-1', silentStepObserver)).send(namespace.ordersTopic, { key: 'one', value: '{}' });
    await world.consume();
    expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId === null])).toEqual([['send orders', true], ['process orders', false], ['order transaction', false]]);
    expect(spans[0]?.attributes['seckill.role']).toBe('scanner');
  });

  test('what fails says so on its spans and fails all the same', async () => {
    const spans = registerMemoryTracer();
    const { consumer } = new World();
    const failing = tracedConsumer(consumer.tracing, scripted([{ topic: namespace.ordersTopic, partition: 0, offset: '0', key: 'one', value: '{}', headers: {} }]), namespace);
    await expect(failing.run(() => Promise.reject(new Error('no database')), () => undefined)).rejects.toThrow('no database');
    expect(spans[0]?.status?.message).toBe('no database');
    expect(spans[0]?.ended).toBe(true);
  });
});

test('without an SDK the ids are made, kept and carried all the same', async () => {
  const world = new World();
  await world.buy([{ reservationId: 'one', traceparent: CALLER }, { reservationId: 'two' }]);
  await world.consume();
  const [one, two] = world.received(namespace.ordersTopic).map(({ headers }) => parseTraceparent(headers['traceparent']));
  expect(one?.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  expect(one?.spanId).not.toBe('b7ad6b7169203331');
  expect(two?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(world.outbox.map(({ headers }) => parseTraceparent(headers['traceparent'])?.traceId)).toEqual([one?.traceId, two?.traceId]);
});

test('outside of any trace an Outbox row has no headers', () => {
  expect(outboxHeaders('one')).toEqual({});
});

describe('traceparent', () => {
  test('is read and written as the standard says', () => {
    const parsed = parseTraceparent(CALLER);
    expect(parsed).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 });
    expect(parsed === null ? null : formatTraceparent(parsed)).toBe(CALLER);
    expect(parseTraceparent('01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-may-come')).not.toBeNull();
  });

  test.each([
    undefined, '', 'x', '00-00000000000000000000000000000000-b7ad6b7169203331-01', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
    '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', 'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', `${CALLER}-more`, CALLER.slice(0, -1),
  ])('%j is none', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });
});

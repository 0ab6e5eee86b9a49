/** The ports of a role with a span around what each one does. A port that is not listed here is not traced. */
import { SpanKind, type Span } from '@opentelemetry/api';

import type { Namespace } from '../../domain/namespace.js';
import type { StepObserver } from '../../domain/steps.js';
import type { OrderLedger } from '../ledger/ledger-port.js';
import type { LogConsumer, LogProducer } from '../order-log/order-log-port.js';
import { topicKind } from '../order-log/topic-kinds.js';
import type { OutboxStore } from '../outbox/outbox-store.js';
import type { StockPort } from '../stock/stock-port.js';
import { activeSpanContext, type Tracing } from './tracing.js';
import { formatTraceparent, parseTraceparent, TRACEPARENT } from './traceparent.js';

/**
 * A step becomes an event on each span about its ids; where none is known, on the active one, which is then bound to those ids: the gateway
 * announces `admitted` with the reservation id it has just made, and the batched reserve call finds the request's span by it.
 */
export function tracedObserver(tracing: Tracing, observer: StepObserver, active: () => Span | undefined, onBound: (id: string) => void): StepObserver {
  return {
    reached(step, ids) {
      for (const id of ids) {
        const span = tracing.spanOf(id) ?? active();
        if (span === undefined) continue;
        if (step === 'gateway.admitted') {
          tracing.bind(id, span);
          onBound(id);
        }
        span.addEvent(step);
        // The relay's spans have no call around them: they live from claim to mark.
        if (step === 'relay.after-mark') {
          tracing.unbind(id);
          span.end();
        }
      }
      return observer.reached(step, ids);
    },
  };
}

/** A message carries the trace that it belongs to: of its Outbox row, else of its reservation, else of the present work, else a new one. */
export function tracedProducer(tracing: Tracing, producer: LogProducer, namespace: Namespace): LogProducer {
  return {
    ready: () => producer.ready(),
    close: () => producer.close(),
    async send(topic, message) {
      const { headers = {} } = message;
      const about = tracing.spanOf(headers['eventId'] ?? '') ?? tracing.spanOf(message.key);
      const parent = about?.spanContext() ?? parseTraceparent(headers[TRACEPARENT]) ?? activeSpanContext();
      const kind = topicKind(namespace, topic);
      const span = tracing.start({ name: `send ${kind}`, kind: SpanKind.PRODUCER, attributes: { 'messaging.system': 'kafka', 'messaging.destination.name': topic } }, parent);
      const result = await tracing.within(span, () => producer.send(topic, { ...message, headers: { ...headers, [TRACEPARENT]: formatTraceparent(span.spanContext()) } }));
      span.setAttribute('seckill.send.outcome', result.outcome);
      span.end();
      return result;
    },
  };
}

/** Each message is handled in the trace of its headers. */
export function tracedConsumer(tracing: Tracing, consumer: LogConsumer, namespace: Namespace): LogConsumer {
  return {
    fatal: consumer.fatal,
    ready: () => consumer.ready(),
    stop: () => consumer.stop(),
    run: (handle, afterOffsetCommit) =>
      consumer.run((messages, batch) => {
        const entries = messages.map(({ key, headers }) => ({ id: key, parent: parseTraceparent(headers[TRACEPARENT]) }));
        const kind = topicKind(namespace, messages[0]?.topic ?? '');
        return tracing.batch({ name: `process ${kind}`, kind: SpanKind.CONSUMER, attributes: { 'messaging.system': 'kafka' } }, entries, () => handle(messages, batch));
      }, afterOffsetCommit),
  };
}

export function tracedLedger(tracing: Tracing, ledger: OrderLedger): OrderLedger {
  const options = { name: 'order transaction', kind: SpanKind.CLIENT, attributes: { 'db.system': 'postgresql' } };
  return {
    ...ledger,
    createOrders: (messages) => tracing.batch(options, messages.map(({ reservationId }) => ({ id: reservationId, parent: null })), () => ledger.createOrders(messages)),
  };
}

export function tracedStock(tracing: Tracing, stock: StockPort): StockPort {
  const attributes = { 'db.system': 'redis' };
  const about = (items: readonly { readonly reservationId: string }[]) => items.map(({ reservationId }) => ({ id: reservationId, parent: null }));
  return {
    ...stock,
    reserve: (sku, requests) => tracing.batch({ name: 'reserve', kind: SpanKind.CLIENT, attributes }, about(requests), () => stock.reserve(sku, requests)),
    project: (sku, updates) => tracing.batch({ name: 'project', kind: SpanKind.CLIENT, attributes }, about(updates), () => stock.project(sku, updates)),
  };
}

/** A span `relay` per event from its claim to its mark; the step `relay.after-mark` ends it. */
export function tracedOutbox(tracing: Tracing, store: OutboxStore): OutboxStore {
  let open: readonly string[] = [];
  return {
    ...store,
    async claim(limit, claim) {
      // Of a claim that was given up before its mark.
      for (const id of open) {
        tracing.spanOf(id)?.end();
        tracing.unbind(id);
      }
      const events = await store.claim(limit, claim);
      for (const { eventId, headers } of events) {
        tracing.bind(eventId, tracing.start({ name: 'relay', kind: SpanKind.INTERNAL, attributes: { 'seckill.subject_id': eventId } }, parseTraceparent(headers[TRACEPARENT])));
      }
      open = events.map(({ eventId }) => eventId);
      return events;
    },
  };
}

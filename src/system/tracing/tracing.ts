/**
 * Spans of one role over the OpenTelemetry API: the operator brings an SDK (`node --import`), or none, and then ids are still made, carried
 * and logged while no span is recorded anywhere. Exists only where `RoleTuning.tracing` is on: off, nothing here is called.
 *
 * A span that is open is found by the id it is about (reservation or event), because work is done in batches: what a batch does is done for
 * each of its traces.
 */
import { randomBytes } from 'node:crypto';

import { context, createContextKey, isSpanContextValid, ROOT_CONTEXT, SpanStatusCode, trace, TraceFlags, type Attributes, type Context, type Span, type SpanContext, type SpanKind, type Tracer } from '@opentelemetry/api';

import { ensureContextManager } from './context-manager.js';
import { formatTraceparent, TRACEPARENT } from './traceparent.js';

/** One of the things that a batch is done for. */
export interface TraceEntry {
  /** Reservation or event id. */
  readonly id: string;
  /** Of the message it came with; null: the open span of the same id, else a new trace. */
  readonly parent: SpanContext | null;
}

export interface SpanOptions {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: Attributes;
}

const OPEN_SPANS = createContextKey('seckill open spans');

export class Tracing {
  readonly #tracer: Tracer;
  readonly #attributes: Attributes;
  readonly #open = new Map<string, Span>();

  constructor(role: string, instance: string) {
    ensureContextManager();
    this.#tracer = trace.getTracer('seckill');
    this.#attributes = { 'seckill.role': role, 'seckill.instance': instance };
  }

  /** The open span about this id. */
  spanOf(id: string): Span | undefined {
    return this.#open.get(id);
  }

  /** From now on `id` is what this span is about, until `unbind`. */
  bind(id: string, span: Span): void {
    this.#open.set(id, span);
  }

  unbind(id: string): void {
    this.#open.delete(id);
  }

  start({ name, kind, attributes }: SpanOptions, parent: SpanContext | null): Span {
    const origin = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const span = this.#tracer.startSpan(name, { kind, attributes: { ...this.#attributes, ...attributes }, root: parent === null }, origin);
    // Without an SDK the API hands the parent through, or a span of no trace at all: an id of our own keeps the chain readable in logs.
    const own = span.spanContext();
    if (isSpanContextValid(own) && own.spanId !== parent?.spanId) return span;
    return trace.wrapSpanContext({
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      traceFlags: parent?.traceFlags ?? TraceFlags.NONE,
    });
  }

  /** Runs `work` with this span active; what fails is noted on it and thrown on. Ends no span. */
  async within<T>(span: Span | null, work: () => Promise<T>): Promise<T> {
    const base = (span === null ? trace.deleteSpan(context.active()) : trace.setSpan(context.active(), span)).setValue(OPEN_SPANS, this.#open);
    try {
      return await context.with(base, work);
    } catch (error) {
      span?.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  /** One span per entry over the whole of `work`, each a child of its own trace and found by its id meanwhile. */
  async batch<T>(options: SpanOptions, entries: readonly TraceEntry[], work: () => Promise<T>): Promise<T> {
    const attributes = { ...options.attributes, 'messaging.batch.message_count': entries.length };
    const started = entries.map(({ id, parent }) => {
      const outer = this.#open.get(id);
      const span = this.start({ ...options, attributes: { ...attributes, 'seckill.subject_id': id } }, parent ?? outer?.spanContext() ?? null);
      this.#open.set(id, span);
      return { id, outer, span };
    });
    const [first] = started;
    try {
      return await this.within(started.length === 1 && first !== undefined ? first.span : null, work);
    } catch (error) {
      for (const { span } of started) span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      // Backwards, so that an id that came twice gets its first outer span back.
      for (const { id, outer, span } of started.reverse()) {
        span.end();
        if (outer === undefined) this.#open.delete(id);
        else this.#open.set(id, outer);
      }
    }
  }
}

/**
 * `traceparent` of the open span about this reservation, else of the one request that this is done for, as headers for its Outbox row; empty while tracing is off. Reads the
 * present context, so that the ledger's stages need not hand tracing through.
 */
export function outboxHeaders(reservationId: string): Readonly<Record<string, string>> {
  const open = context.active().getValue(OPEN_SPANS) as ReadonlyMap<string, Span> | undefined;
  const span = open?.get(reservationId) ?? (open === undefined ? undefined : trace.getActiveSpan());
  return span === undefined ? {} : { [TRACEPARENT]: formatTraceparent(span.spanContext()) };
}

/** The parent of what happens now. */
export function activeSpanContext(active: Context = context.active()): SpanContext | null {
  return trace.getSpanContext(active) ?? null;
}

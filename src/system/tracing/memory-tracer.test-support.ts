/** A tracer provider that keeps its spans in memory: what an SDK would be, as far as these tests look. */
import { randomBytes } from 'node:crypto';

import { trace, type Attributes, type Context, type Span, type SpanContext, type SpanKind, type SpanOptions, type SpanStatus, type Tracer } from '@opentelemetry/api';

export class MemorySpan implements Span {
  readonly name: string;
  readonly kind: SpanKind | undefined;
  readonly parentSpanId: string | null;
  readonly events: string[] = [];
  readonly attributes: Attributes;
  status: SpanStatus | null = null;
  ended = false;
  readonly #own: SpanContext;

  constructor(name: string, kind: SpanKind | undefined, parentSpanId: string | null, traceId: string, attributes: Attributes) {
    this.name = name;
    this.kind = kind;
    this.parentSpanId = parentSpanId;
    this.#own = { traceId, spanId: randomBytes(8).toString('hex'), traceFlags: 1 };
    this.attributes = { ...attributes };
  }

  spanContext(): SpanContext {
    return this.#own;
  }

  setAttribute(key: string, value: Attributes[string]): this {
    this.attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.attributes, attributes);
    return this;
  }

  addEvent(name: string): this {
    if (this.ended) throw new Error(`the event ${name} came after the end of ${this.name}`);
    this.events.push(name);
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.status = status;
    return this;
  }

  updateName(): this {
    return this;
  }

  end(): void {
    if (this.ended) throw new Error(`${this.name} ended twice`);
    this.ended = true;
  }

  isRecording(): boolean {
    return !this.ended;
  }

  recordException(): void {
    // Not looked at.
  }
}

/** Registers itself as the provider of this process and returns the list that its spans go to. */
export function registerMemoryTracer(): MemorySpan[] {
  const spans: MemorySpan[] = [];
  const startSpan = (name: string, options: SpanOptions = {}, origin?: Context): Span => {
    const parent = origin === undefined ? undefined : trace.getSpanContext(origin);
    const span = new MemorySpan(name, options.kind, parent?.spanId ?? null, parent?.traceId ?? randomBytes(16).toString('hex'), options.attributes ?? {});
    spans.push(span);
    return span;
  };
  const tracer: Tracer = { startSpan, startActiveSpan: () => { throw new Error('not used'); } };
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  return spans;
}

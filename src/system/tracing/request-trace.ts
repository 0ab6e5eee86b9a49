/** The span of an HTTP request: continues the caller's `traceparent` or begins a trace. */
import { SpanKind, trace, type Span } from '@opentelemetry/api';

import type { StepObserver } from '../../domain/steps.js';
import { tracedObserver } from './traced-ports.js';
import { parseTraceparent, TRACEPARENT } from './traceparent.js';
import { Tracing } from './tracing.js';

/** Tracing of one role, as its surroundings hold it. */
export interface RoleTracing {
  readonly tracing: Tracing;
  /** The role's observer, with each step also an event on its spans. */
  readonly observer: StepObserver;
  /** Runs the answer to one HTTP request inside of its span. `headers`: as Node gives them. */
  request(method: string, headers: Readonly<Record<string, string | string[] | undefined>>, work: () => Promise<void>): Promise<void>;
}

/** Switches tracing on for one role. */
export function createRoleTracing(role: string, instance: string, observer: StepObserver): RoleTracing {
  const tracing = new Tracing(role, instance);
  const boundTo = new WeakMap<Span, string[]>();
  const noteBound = (id: string): void => {
    const span = trace.getActiveSpan();
    if (span !== undefined) boundTo.get(span)?.push(id);
  };
  return {
    tracing,
    observer: tracedObserver(tracing, observer, () => trace.getActiveSpan(), noteBound),
    async request(method, headers, work) {
      const header = headers[TRACEPARENT];
      const span = tracing.start({ name: `HTTP ${method}`, kind: SpanKind.SERVER }, parseTraceparent(typeof header === 'string' ? header : undefined));
      const ids: string[] = [];
      boundTo.set(span, ids);
      try {
        await tracing.within(span, work);
      } finally {
        for (const id of ids) tracing.unbind(id);
        span.end();
      }
    },
  };
}

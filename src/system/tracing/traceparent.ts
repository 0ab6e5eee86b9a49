/** The W3C `traceparent` header (Trace Context, level 1): read, checked and written. */
import { isValidSpanId, isValidTraceId, type SpanContext } from '@opentelemetry/api';

export const TRACEPARENT = 'traceparent';

/** version – trace id – parent id – flags, all lower-case hex; a version above 00 may carry more behind. */
const HEADER = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The caller's span, or null for a header that is missing or malformed: then a new trace begins, as the standard asks. */
export function parseTraceparent(header: string | undefined): SpanContext | null {
  const match = header === undefined ? null : HEADER.exec(header.trim());
  if (match === null) return null;
  const [, version, traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (!isValidTraceId(traceId) || !isValidSpanId(spanId)) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, '0')}`;
}

/** What the harvest takes from the values on the events, closes and dead-letter topics. Lenient: the judges say what is wrong with a record, not the parser. */
import type { DeadLetterRecord, EventLogRecord } from '../../facts/store-facts.js';

type WithoutPlace<Record> = Omit<Record, 'partition' | 'offset' | 'appendedAtMs'>;

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** An event, or null when even its name, reservation or version cannot be read. */
export function parseEventRecord(text: string): WithoutPlace<EventLogRecord> | null {
  const value = parsed(text);
  if (value === null) return null;
  const { eventId, type, reservationId, aggregateVersion } = value;
  if (typeof eventId !== 'string' || typeof type !== 'string' || typeof reservationId !== 'string' || typeof aggregateVersion !== 'number') return null;
  return {
    eventId, type, reservationId, aggregateVersion,
    orderId: textOrNull(value['orderId']), reason: textOrNull(value['reason']), returnsUnit: value['returnsUnit'] === true,
  };
}

/** A dead letter, or null when it does not say where it came from and why. */
export function parseDeadLetterRecord(text: string): WithoutPlace<DeadLetterRecord> | null {
  const value = parsed(text);
  if (value === null) return null;
  const { originTopic, originPartition, originOffset, cause, attempts } = value;
  if (typeof originTopic !== 'string' || typeof originPartition !== 'number' || typeof originOffset !== 'string') return null;
  if (typeof cause !== 'string' || typeof attempts !== 'number') return null;
  return { originTopic, originPartition, originOffset, cause, attempts, messageId: textOrNull(value['messageId']), reservationId: textOrNull(value['reservationId']) };
}

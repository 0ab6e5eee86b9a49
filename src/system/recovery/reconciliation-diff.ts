/**
 * The differences between the three ledgers, id by id (paper `004` §12), each with its repair. Pure: one look in, a list out.
 *
 * A look is taken while everything goes on, so what it shows may be on its way: ids that are younger than the grace, entries of the pending index
 * (the scanner's work) and messages that the consumer has not reached are no differences. What remains counts only when a second look,
 * later than the grace, shows the very same (`confirmed`).
 */
import { counterDifferences } from './reconciliation-counters.js';
import { isConsumed, type Look } from './reconciliation-ledgers.js';
import { indexLook, isYoung, type Difference, type IndexedLook } from './reconciliation-look.js';
import { differencesOfRecord } from './reconciliation-records.js';
import { differencesOfRow } from './reconciliation-rows.js';

/** Every difference that one look shows. */
export function findDifferences(look: Look, graceMs: number): readonly Difference[] {
  const indexed = indexLook(look, graceMs);
  const found: Difference[] = [];
  for (const record of indexed.records.values()) found.push(...differencesOfRecord(indexed, record));
  for (const row of look.durable.reservations) found.push(...differencesOfRow(indexed, row));
  found.push(...differencesOfMessages(indexed), ...orphanMarks(indexed), ...orphanEntries(indexed), ...counterDifferences(indexed));
  return found;
}

/** Those that both looks show in the same words; the repair is the later look's. */
export function confirmed(earlier: readonly Difference[], later: readonly Difference[]): readonly Difference[] {
  const seen = new Set(earlier.map(signature));
  return later.filter((difference) => seen.has(signature(difference)));
}

function signature({ kind, subject, seen }: Difference): string {
  return `${kind}\n${subject}\n${seen}`;
}

/** Messages that were consumed and left nothing behind. */
function differencesOfMessages(look: IndexedLook): readonly Difference[] {
  const found: Difference[] = [];
  for (const seen of look.topic.messages.values()) {
    const { message } = seen;
    const { requestId, reservationId, userId } = message;
    if (look.rowsByReservation.has(reservationId) || look.inboxed.has(message.messageId)) continue;
    if (!isConsumed(look.topic, seen) || isYoung(look, message.reservedAtMs)) continue;
    const record = look.records.get(requestId);
    // The scanner sends it again until PostgreSQL knows an end.
    if (look.redis.pending.has(requestId) && record?.reservationId === reservationId) continue;
    found.push({
      kind: 'message-without-row', subject: reservationId, requestId, reservationId, userId,
      seen: `message ${message.messageId}`,
      repair: { act: 'resend', message },
    });
  }
  return found;
}

/** Marks of users that lead to no record. Where PostgreSQL knows the request, or a unit of this user, the row's own repair sets the mark. */
function orphanMarks(look: IndexedLook): readonly Difference[] {
  const found: Difference[] = [];
  const holders = new Set(look.durable.reservations.filter((row) => !look.redis.records.has(row.requestId)).map((row) => row.userId));
  for (const [userId, requestId] of look.redis.users) {
    if (look.redis.records.has(requestId) || holders.has(userId)) continue;
    found.push({
      kind: 'user-mark-orphan', subject: userId, requestId, reservationId: null, userId,
      seen: `mark ${requestId}`,
      repair: { act: 'adjust', change: { record: null, stockDelta: 0, mark: { userId, seen: requestId, becomes: null }, pending: 'keep' } },
    });
  }
  return found;
}

function orphanEntries(look: IndexedLook): readonly Difference[] {
  const found: Difference[] = [];
  const inTopic = new Set([...look.topic.messages.values()].map(({ message }) => message.requestId));
  for (const requestId of look.redis.pending) {
    if (look.redis.records.has(requestId) || look.rowsByRequest.has(requestId) || inTopic.has(requestId)) continue;
    found.push({
      kind: 'pending-entry-orphan', subject: requestId, requestId, reservationId: null, userId: null,
      seen: 'entry without record',
      repair: { act: 'adjust', change: { record: { requestId, seen: null, becomes: null }, stockDelta: 0, mark: null, pending: 'remove' } },
    });
  }
  return found;
}

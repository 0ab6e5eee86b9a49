/**
 * What a fault may lose by its own admission (DESIGN §7): reservations made inside its proven window, whose clients heard no more than
 * QUEUED_PENDING_MESSAGE and of which no message reached the topic. Anything else that is lost is a violation.
 */
import type { Facts } from '../facts/facts.js';
import type { MayLose } from '../facts/fault-record.js';
import type { Acceptance } from './acceptances.js';
import { ordersTopicIsWhole, topicByReservation } from './indexes.js';

/** Windows of faults that were seen to land: an unproven fault excuses nothing. */
export function provenLosses(facts: Facts): readonly MayLose[] {
  if (!facts.faults.present) return [];
  return facts.faults.value.flatMap((fault) => (fault.proof === 'landed' && fault.mayLose !== null ? [fault.mayLose] : []));
}

/** True when the loss of the reservation with these acceptances is covered. */
export function isExcused(facts: Facts, reservationId: string | null, told: readonly Acceptance[]): boolean {
  const windows = provenLosses(facts);
  if (windows.length === 0 || told.length === 0) return false;
  if (!facts.kafka.present || !ordersTopicIsWhole(facts)) return false;
  if (reservationId !== null && topicByReservation(facts).has(reservationId)) return false;
  if (told.some((acceptance) => acceptance.code !== 'QUEUED_PENDING_MESSAGE')) return false;
  // The reservation happened between the first question and the first answer about it.
  const askedUs = Math.min(...told.map((acceptance) => acceptance.askedUs));
  const answeredUs = Math.min(...told.map((acceptance) => acceptance.answeredUs));
  return windows.some((window) => answeredUs >= window.fromUs && askedUs <= window.toUs);
}

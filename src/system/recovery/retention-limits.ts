/** How long what must be kept, and why (DESIGN §4, paper `001` §8.2): an Inbox row is needed for as long as its message can come again. */
import type { RoleTuning } from '../../domain/role-config.js';

export type RetentionTuning = Pick<
  RoleTuning,
  'inboxRetentionMs' | 'logRetentionMs' | 'recoveryDeadlineMs' | 'reservationTtlMs' | 'paymentWindowMs' | 'outboxArchiveAfterMs' | 'callbackArchiveAfterMs' | 'retentionIntervalMs' | 'leaseMs'
>;

/** Every way in which these settings would delete what is still needed; empty: none. */
export function retentionProblems(tuning: RetentionTuning): readonly string[] {
  const problems: string[] = [];
  const longer = (what: string, valueMs: number, than: string, boundMs: number): void => {
    if (!(valueMs > boundMs)) problems.push(`${what} ${String(valueMs)} must be longer than ${than} ${String(boundMs)}`);
  };
  if (tuning.logRetentionMs !== null) {
    longer('inboxRetentionMs', tuning.inboxRetentionMs, 'logRetentionMs: a message that is still in the topic can be read again,', tuning.logRetentionMs);
  }
  longer('inboxRetentionMs', tuning.inboxRetentionMs, 'recoveryDeadlineMs: until then the scanner sends again,', tuning.recoveryDeadlineMs);
  longer('inboxRetentionMs', tuning.inboxRetentionMs, 'reservationTtlMs: until then the scanner sends again,', tuning.reservationTtlMs);
  longer('outboxArchiveAfterMs', tuning.outboxArchiveAfterMs, 'leaseMs: until then a relay may still be at it,', tuning.leaseMs);
  longer('callbackArchiveAfterMs', tuning.callbackArchiveAfterMs, 'paymentWindowMs: until then an order may be paid, and its channel repeats itself,', tuning.paymentWindowMs);
  if (!(tuning.retentionIntervalMs >= 1)) problems.push(`retentionIntervalMs ${String(tuning.retentionIntervalMs)} must be at least 1`);
  return problems;
}

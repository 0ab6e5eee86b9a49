/** All mutants by name, in the order in which the papers are afraid of them. Adding one touches its file and this list. */
import { absoluteSetRepair } from './absolute-set-repair.js';
import { checkThenActAllocator } from './check-then-act-allocator.js';
import { checkThenInsertOrder } from './check-then-insert-order.js';
import { clientRetries } from './client-retries.js';
import { commitReExecuted } from './commit-re-executed.js';
import { doubleCompensation } from './double-compensation.js';
import { getThenDecr } from './get-then-decr.js';
import { idempotentProducer } from './idempotent-producer.js';
import { inMemoryQueue } from './in-memory-queue.js';
import { inboxForgetsOrder } from './inbox-forgets-order.js';
import { inboxOff } from './inbox-off.js';
import { inboxTrimmedEarly } from './inbox-trimmed-early.js';
import { lateCloseReleasesAgain } from './late-close-releases-again.js';
import { ledgerOfTheBatch } from './ledger-of-the-batch.js';
import { lettersUnread } from './letters-unread.js';
import { markAfterDecrement } from './mark-after-decrement.js';
import { markNeverCleared } from './mark-never-cleared.js';
import { messageInsideTransaction } from './message-inside-transaction.js';
import type { Mutant } from './mutant.js';
import { newMessageIdOnResend } from './new-message-id-on-resend.js';
import { noFinalStockCheck } from './no-final-stock-check.js';
import { noRunIdCheck } from './no-run-id-check.js';
import { noUniqueKey } from './no-unique-key.js';
import { offsetBeforeTransaction } from './offset-before-transaction.js';
import { permitNeverOver } from './permit-never-over.js';
import { permitPerGateway } from './permit-per-gateway.js';
import { redisBeforeDatabase } from './redis-before-database.js';
import { refundNotAsked } from './refund-not-asked.js';
import { releaseOnSendTimeout } from './release-on-send-timeout.js';
import { secondPurchaseOnMiss } from './second-purchase-on-miss.js';
import { sentBeforeSending } from './sent-before-sending.js';
import { skipLockedRead } from './skip-locked-read.js';
import { straightToDatabase } from './straight-to-database.js';
import { successAfterRedis } from './success-after-redis.js';
import { trustingScanner } from './trusting-scanner.js';
import { unconditionalPayAndCancel } from './unconditional-pay-and-cancel.js';

export const MUTANTS: readonly Mutant[] = [
  successAfterRedis, releaseOnSendTimeout, newMessageIdOnResend, noUniqueKey, offsetBeforeTransaction, inboxOff, inboxTrimmedEarly, secondPurchaseOnMiss,
  noFinalStockCheck, checkThenActAllocator, checkThenInsertOrder, unconditionalPayAndCancel, messageInsideTransaction, skipLockedRead, commitReExecuted,
  lateCloseReleasesAgain, absoluteSetRepair, redisBeforeDatabase, sentBeforeSending, getThenDecr, markAfterDecrement, clientRetries, idempotentProducer,
  straightToDatabase, inMemoryQueue, trustingScanner, doubleCompensation, markNeverCleared, noRunIdCheck,
  ledgerOfTheBatch, inboxForgetsOrder, permitPerGateway, permitNeverOver, refundNotAsked, lettersUnread,
];

/** One for each way of being wrong, for CI: few plans, so that few controls are needed. */
export const REDUCED_MUTANTS: readonly Mutant[] = [successAfterRedis, noUniqueKey, markAfterDecrement, inboxOff, checkThenActAllocator, sentBeforeSending];

/** Throws when there is none: names from outside are checked where they come in. */
export function findMutant(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`there is no mutant ${JSON.stringify(name)}`);
  return found;
}

/** All mutants by name. Adding one touches its file and this list. */
import { checkThenActAllocator } from './check-then-act-allocator.js';
import { checkThenInsertOrder } from './check-then-insert-order.js';
import { clientRetries } from './client-retries.js';
import { commitReExecuted } from './commit-re-executed.js';
import { inboxOff } from './inbox-off.js';
import { inboxTrimmedEarly } from './inbox-trimmed-early.js';
import { markAfterDecrement } from './mark-after-decrement.js';
import type { Mutant } from './mutant.js';
import { newMessageIdOnResend } from './new-message-id-on-resend.js';
import { noUniqueKey } from './no-unique-key.js';
import { offsetBeforeTransaction } from './offset-before-transaction.js';
import { releaseOnSendTimeout } from './release-on-send-timeout.js';
import { sentBeforeSending } from './sent-before-sending.js';
import { skipLockedRead } from './skip-locked-read.js';
import { successAfterRedis } from './success-after-redis.js';

export const MUTANTS: readonly Mutant[] = [
  successAfterRedis, releaseOnSendTimeout, newMessageIdOnResend, noUniqueKey, offsetBeforeTransaction, inboxOff, inboxTrimmedEarly, checkThenActAllocator,
  checkThenInsertOrder, skipLockedRead, commitReExecuted, sentBeforeSending, markAfterDecrement, clientRetries,
];

/** One for each way of being wrong, for CI: few plans, so that few controls are needed. */
export const REDUCED_MUTANTS: readonly Mutant[] = [successAfterRedis, noUniqueKey, markAfterDecrement, offsetBeforeTransaction, inboxOff, checkThenActAllocator];

/** Throws when there is none: names from outside are checked where they come in. */
export function findMutant(name: string): Mutant {
  const found = MUTANTS.find((mutant) => mutant.name === name);
  if (found === undefined) throw new Error(`there is no mutant ${JSON.stringify(name)}`);
  return found;
}

/** All invariants by name, in the order in which a reader meets them. Adding one touches its file and this list. */
import { admissionBounded } from './admission-bounded.js';
import { deadLettersAccounted } from './dead-letters-accounted.js';
import { failClosed } from './fail-closed.js';
import { honestAnswers } from './honest-answers.js';
import { inboxOnce } from './inbox-once.js';
import type { Invariant } from './invariant.js';
import { ledgerBalanced } from './ledger-balanced.js';
import { legalStatePath } from './legal-state-path.js';
import { lotteryKept } from './lottery-kept.js';
import { moneyAccounted } from './money-accounted.js';
import { noLostReservation } from './no-lost-reservation.js';
import { noOversell } from './no-oversell.js';
import { noPhantomOrder } from './no-phantom-order.js';
import { noUndersell } from './no-undersell.js';
import { oneAnswerPerRequest } from './one-answer-per-request.js';
import { oneOrderPerUser } from './one-order-per-user.js';
import { outboxComplete } from './outbox-complete.js';
import { paidNeverCancelled } from './paid-never-cancelled.js';
import { permitOnce } from './permit-once.js';
import { redisConservation } from './redis-conservation.js';
import { releaseOnce } from './release-once.js';
import { stableMessageId } from './stable-message-id.js';
import { stockConservation } from './stock-conservation.js';

export const INVARIANTS: readonly Invariant[] = [
  noOversell, oneOrderPerUser, oneAnswerPerRequest, honestAnswers, noLostReservation, noPhantomOrder, stockConservation, ledgerBalanced,
  redisConservation, stableMessageId, inboxOnce, outboxComplete, legalStatePath, releaseOnce, paidNeverCancelled, moneyAccounted, deadLettersAccounted,
  failClosed, admissionBounded, permitOnce, lotteryKept, noUndersell,
];

export function invariantNamed(name: string): Invariant | null {
  return INVARIANTS.find((invariant) => invariant.name === name) ?? null;
}

/**
 * The order transaction (paper 001 §2, §9; DESIGN §4), the same for one message and for a batch: a batch must end exactly as its messages
 * one by one would.
 *
 *   Inbox → reservation → order → allocation → items → ledger → Outbox → (COMMIT by the caller)
 *
 * Duplicates are sorted out before the allocation, so they never reach a hot row, and the hot row is held for the shortest time.
 */
import type { Clock } from '../../domain/clock.js';
import type { OrderMessage } from '../../domain/order-message.js';
import type { StepName, StepObserver } from '../../domain/steps.js';
import type { Allocator } from './allocators/allocator-port.js';
import type { MessageResult } from './ledger-port.js';
import type { IdSource } from './order-id.js';
import type { OrderWork } from './order-work.js';
import { loadSkuTerms, type SkuTerms } from './sku-terms.js';
import { allocateUnits, writeItemsAndLedger } from './stage-allocation.js';
import { correctInbox, takeMessages, type InboxScope } from './stage-inbox.js';
import { makeOrders } from './stage-order.js';
import { decideFollowers, resultOf, settleReservations, writeEvents, type EventTopics } from './stage-outcome.js';
import { reserveDurably } from './stage-reservation.js';
import type { Transaction } from './transaction.js';

export interface OrderTransactionParts {
  readonly inbox: InboxScope;
  readonly topics: EventTopics;
  readonly paymentWindowMs: number;
  readonly allocator: Allocator;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly observer: StepObserver;
}

/**
 * Decides every message and writes what follows from it. One result per message, in the order given. Throws to roll back.
 */
export async function decideMessages(
  transaction: Transaction,
  messages: readonly OrderMessage[],
  parts: OrderTransactionParts,
): Promise<readonly MessageResult[]> {
  const ids = messages.map((message) => message.reservationId);
  const announce = async (step: StepName): Promise<void> => {
    await parts.observer.reached(step, ids);
  };

  const { works, repeated } = await takeMessages(transaction, parts.inbox, messages, parts.ids);
  await announce('consumer.after-inbox');

  const terms = works.length === 0 ? new Map<string, SkuTerms>() : await loadSkuTerms(transaction, works.map((work) => work.message));
  if (works.length > 0) await reserveDurably(transaction, works, terms);
  await announce('consumer.after-reservation');

  const orderTerms = { terms, paymentWindowMs: parts.paymentWindowMs, clock: parts.clock };
  const ordered = await makeOrders(transaction, works, orderTerms);
  await announce('consumer.after-order');

  const sold = await allocateUnits(transaction, ordered, parts.allocator);
  await announce('consumer.after-allocate');

  await writeItemsAndLedger(transaction, sold, orderTerms, parts.ids);
  await announce('consumer.after-ledger');

  decideFollowers(works);
  await settleReservations(transaction, works);
  await writeEvents(transaction, works, parts.topics);
  await correctInbox(transaction, parts.inbox, works);
  await announce('consumer.after-outbox');

  await announce('consumer.before-commit');
  const results = resultsInOrder(messages, works.map(resultOf), repeated);
  noteFirst(transaction, results, works);
  return results;
}

/** For the log. */
function noteFirst(transaction: Transaction, [first]: readonly MessageResult[], works: readonly OrderWork[]): void {
  if (first === undefined) return;
  const unit = works.find((work) => work.message.messageId === first.messageId)?.unit ?? null;
  transaction.note({
    resultCode: first.result, orderId: first.orderId,
    ...(unit === null ? {} : { inventoryBucket: unit.bucketNo, inventoryTokenId: unit.tokenId }),
  });
}

/** The second and later copies of one message id in a batch are repeats of the first. */
function resultsInOrder(
  messages: readonly OrderMessage[],
  decided: readonly MessageResult[],
  repeated: ReadonlyMap<string, MessageResult>,
): readonly MessageResult[] {
  const resultOfMessage = new Map<string, MessageResult>([...repeated, ...decided.map((result) => [result.messageId, result] as const)]);
  const seen = new Set<string>();
  return messages.flatMap((message) => {
    const result = resultOfMessage.get(message.messageId);
    if (result === undefined) return [];
    const isCopy = seen.has(message.messageId);
    seen.add(message.messageId);
    return [isCopy ? { ...result, repeated: true } : result];
  });
}

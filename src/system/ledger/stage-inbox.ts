/** First and last stage of the order transaction: which messages are new, and what became of them. */
import type { MessageId, OrderId } from '../../domain/ids.js';
import type { OrderMessage } from '../../domain/order-message.js';
import { OrderResult } from '../../domain/reason-codes.js';
import type { MessageResult } from './ledger-port.js';
import type { IdSource } from './order-id.js';
import { column, startWork, type OrderWork } from './order-work.js';
import { LedgerAnomaly } from './postgres-failure.js';
import type { Transaction } from './transaction.js';

export interface InboxScope {
  readonly group: string;
  readonly topic: string;
}

export interface TakenMessages {
  /** Messages that nobody has handled, each once, in the order of the batch. */
  readonly works: readonly OrderWork[];
  readonly repeated: ReadonlyMap<MessageId, MessageResult>;
}

/** Inserts the Inbox rows; a transaction that is handling the same message right now is waited for. */
export async function takeMessages(transaction: Transaction, scope: InboxScope, messages: readonly OrderMessage[], ids: IdSource): Promise<TakenMessages> {
  const seen = new Set<MessageId>();
  const unique = messages.filter(({ messageId }) => !seen.has(messageId) && seen.add(messageId));
  const works = unique.map((message) => startWork(message, ids.next()));
  const taken = await transaction.run<{ message_id: string }>('insert_inbox', [
    scope.group,
    scope.topic,
    column(works, (work) => work.message.messageId),
    column(works, (work) => work.message.reservationId),
    column(works, (work) => work.message.payloadHash),
    column(works, (work) => work.orderId),
  ]);
  if (taken.count === works.length) return { works, repeated: new Map() };
  const isTaken = new Set(taken.rows.map((row) => row.message_id));
  const known = unique.filter((message) => !isTaken.has(message.messageId));
  return { works: works.filter((work) => isTaken.has(work.message.messageId)), repeated: await loadResults(transaction, scope, known) };
}

async function loadResults(transaction: Transaction, scope: InboxScope, known: readonly OrderMessage[]): Promise<ReadonlyMap<MessageId, MessageResult>> {
  const found = await transaction.run<{ message_id: string; result_code: string; order_id: OrderId | null }>('load_inbox_results', [
    scope.group, column(known, (message) => message.messageId),
  ]);
  const rowOf = new Map(found.rows.map((row) => [row.message_id, row]));
  return new Map(known.map((message) => {
    const row = rowOf.get(message.messageId);
    if (row === undefined) throw new LedgerAnomaly(`message ${message.messageId} is in the Inbox and not in the Inbox`);
    return [message.messageId, {
      messageId: message.messageId,
      reservationId: message.reservationId,
      repeated: true,
      result: toOrderResult(row.result_code),
      orderId: row.order_id,
    }];
  }));
}

function toOrderResult(code: string): OrderResult {
  if (!Object.hasOwn(OrderResult, code)) throw new LedgerAnomaly(`unknown result code in the Inbox: ${code}`);
  return code as OrderResult;
}

/** Corrects the rows of messages that did not become an order: they were written as if they had. */
export async function correctInbox(transaction: Transaction, scope: InboxScope, works: readonly OrderWork[]): Promise<void> {
  const others = works.filter((work) => work.decision?.result !== OrderResult.ORDER_CREATED);
  if (others.length === 0) return;
  const corrected = await transaction.run('update_inbox_results', [
    scope.group,
    column(others, (work) => work.message.messageId),
    column(others, (work) => work.decision?.result),
    column(others, (work) => work.decision?.orderId ?? null),
  ]);
  if (corrected.count !== others.length) throw new LedgerAnomaly(`${String(corrected.count)} of ${String(others.length)} Inbox rows corrected`);
}

/** What the order transaction knows about one message while it decides. */
import type { OrderId } from '../../domain/ids.js';
import type { OrderMessage } from '../../domain/order-message.js';
import type { OrderResult } from '../../domain/reason-codes.js';
import type { AllocatedUnit } from './allocators/allocator-port.js';

export interface Decision {
  readonly result: OrderResult;
  readonly orderId: OrderId | null;
}

/** One message that this transaction has taken by the Inbox. */
export interface OrderWork {
  readonly message: OrderMessage;
  /** Made before anything is written; used only if the order is made. */
  readonly orderId: OrderId;
  /** null: still on its way to an order. */
  decision: Decision | null;
  /** The reservation row is in state PENDING_DB under this transaction's lock, and has to leave it before COMMIT. */
  pendingRow: boolean;
  unit: AllocatedUnit | null;
  /** What the database made of the order: its purchase number and the end of its time, as text with all its digits. */
  made: { readonly purchaseNo: number; readonly expireAt: string } | null;
  /** Version of the reservation row after its change; 1 where there is no row. */
  version: number;
  /** An earlier message of the same batch whose end decides this one. */
  follows: { readonly leader: OrderWork; readonly as: 'same-reservation' | 'same-user' } | null;
}

export function startWork(message: OrderMessage, orderId: OrderId): OrderWork {
  return { message, orderId, decision: null, pendingRow: false, unit: null, made: null, version: 1, follows: null };
}

/** Still to become an order: has its reservation row and nothing against it so far. */
export function isOpen(work: OrderWork): boolean {
  return work.decision === null && work.follows === null && work.pendingRow;
}

export function skuKeyText(message: Pick<OrderMessage, 'activityId' | 'skuId'>): string {
  return `${message.activityId}:${message.skuId}`;
}

/** One column of a batch, for `unnest`. */
export function column<Row, Value>(rows: readonly Row[], pick: (row: Row) => Value): Value[] {
  return rows.map(pick);
}

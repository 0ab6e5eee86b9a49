/**
 * The judges' own transcription of the state tables (paper `001` §7.6, §8.1, §9.6, §9.9, §9.10; paper `000` §6.7; DESIGN §4). Deliberately not
 * imported from the system: a checker that shares a table with what it checks shares its mistakes (DESIGN §7).
 */

export interface StateTable {
  readonly what: string;
  readonly names: Readonly<Record<number, string>>;
  /** States in which a row may first appear in a committed transaction. */
  readonly initial: readonly number[];
  /** from → to. A state without an entry is final. */
  readonly edges: Readonly<Record<number, readonly number[]>>;
}

/**
 * Pay and cancel fight for the same row: only one of 30 and 40 is reached (`001` §7.6). A late payment of a cancelled order is refunded in
 * `payment_record` only, so 40 → 60 is no edge of an order (DESIGN §7).
 */
export const ORDER_STATES: StateTable = {
  what: 'order',
  names: { 10: 'CREATED', 20: 'PAYING', 30: 'PAID', 40: 'CANCELLED', 50: 'CLOSED', 60: 'REFUND_PENDING' },
  initial: [10],
  edges: { 10: [20, 30, 40], 20: [30, 40], 30: [60], 60: [50] },
};

/**
 * 20 and 50 may be the first state: a reservation that ends without an order is closed by inserting its row (DESIGN §4, Release). 10 may be too,
 * where one statement inserts the finished row.
 */
export const RESERVATION_STATES: StateTable = {
  what: 'reservation',
  names: {
    0: 'PENDING_DB', 10: 'ORDERED', 20: 'REJECTED', 30: 'RELEASE_PENDING', 40: 'RELEASED', 50: 'EXPIRED', 60: 'MANUAL_REQUIRED',
  },
  initial: [0, 10, 20, 50],
  // 30 is a refund under way; 60 waits for a human, who ends it without an order: there is none that could be released.
  edges: { 0: [10, 20, 60], 10: [30, 40], 30: [40], 60: [50] },
};

/** CLAIMED = unpaid, SOLD = paid, back to AVAILABLE = resold, RELEASED = withdrawn from sale for good (DESIGN §4). */
export const TOKEN_STATES: StateTable = {
  what: 'token',
  names: { 0: 'AVAILABLE', 10: 'CLAIMED', 20: 'SOLD', 30: 'RELEASED' },
  initial: [0],
  edges: { 0: [10, 30], 10: [20, 0, 30], 20: [0, 30] },
};

/**
 * Money that arrives makes its record in the state it is in, where nobody had started a payment. It is believed also after the channel had said that the
 * payment failed, and it leaves only by way of a refund.
 */
export const PAYMENT_STATES: StateTable = {
  what: 'payment',
  names: { 0: 'CREATED', 10: 'UNKNOWN', 20: 'SUCCEEDED', 30: 'FAILED', 40: 'REFUND_PENDING', 50: 'REFUNDED' },
  initial: [0, 10, 20, 30, 40],
  edges: { 0: [10, 20, 30, 40], 10: [20, 30, 40], 20: [40], 30: [20, 40], 40: [50] },
};

/** `CREATED (10)`, or the bare number of a state that the table lacks. */
export function stateName(table: StateTable, status: number): string {
  const name = table.names[status];
  return name === undefined ? String(status) : `${name} (${String(status)})`;
}

export function isLegalEdge(table: StateTable, from: number, to: number): boolean {
  return table.edges[from]?.includes(to) ?? false;
}

/** The order's unit is bound to its user: not cancelled, not closed. */
export function orderIsLive(status: number): boolean {
  return status !== 40 && status !== 50;
}

/** A unit is held by a reservation in state 10 or 30, also while a human decides about one that has an order … */
export function reservationHoldsUnit(status: number, orderId: string | null): boolean {
  return status === 10 || status === 30 || (status === 60 && orderId !== null);
}

/** … or by an order (paid, or open: an open order without a held reservation would hide an oversell). */
export function orderHoldsUnit(status: number): boolean {
  return status === 10 || status === 20 || status === 30;
}

/** The order was paid at some time, whatever became of it. */
export function orderWasPaid(status: number): boolean {
  return status === 30 || status === 50 || status === 60;
}

/** The reservation ended without an order and says so durably. */
export function reservationIsRefused(status: number): boolean {
  return status === 20 || status === 50;
}

/**
 * Every way in which an order, its reservation, its unit of stock and its payment may move, in one table (paper `000` §6.7, `001` §7.6,
 * §8.1, §9.9–9.10; `004` §6). A transition is one transaction: all its moves happen together or none does. The guards of the statements in
 * `sql/commands` are compared with it by a test; the judges keep a copy of their own.
 *
 * Withdrawn units: where an activity does not put a cancelled unit back on sale, the token leaves as RELEASED; row stock keeps it in
 * `allocated_stock`. Neither gets a RELEASE entry in the ledger, since nothing becomes available. So, for both allocators:
 * total = available + held + withdrawn, and withdrawn = RELEASED reservations without a RELEASE entry.
 */
import { LedgerType, OrderStatus, PaymentStatus, ReservationStatus, TokenStatus } from './status-codes.js';

/** From one of these states to that one; `from` empty: the row is made in that state. */
export interface Move<Status extends number> {
  readonly from: readonly Status[];
  readonly to: Status;
}

/** The rule of the activity that decides what becomes of a unit that comes back (`restockOnCancel`). */
export type UnitFate = 'restocked' | 'withdrawn';

export interface Transition {
  /** null: untouched. */
  readonly order: Move<OrderStatus> | null;
  readonly reservation: Move<ReservationStatus> | null;
  readonly unit: Move<TokenStatus> | Readonly<Record<UnitFate, Move<TokenStatus>>> | null;
  /** Type of the ledger entry; a RELEASE is written for a restocked unit only. */
  readonly ledger: LedgerType | null;
  readonly payment: Move<PaymentStatus> | null;
}

const O = OrderStatus;
const R = ReservationStatus;
const T = TokenStatus;
const P = PaymentStatus;

const NOTHING: Transition = { order: null, reservation: null, unit: null, ledger: null, payment: null };

const CANCEL: Transition = {
  order: { from: [O.CREATED, O.PAYING], to: O.CANCELLED },
  reservation: { from: [R.ORDERED], to: R.RELEASED },
  unit: { restocked: { from: [T.CLAIMED], to: T.AVAILABLE }, withdrawn: { from: [T.CLAIMED], to: T.RELEASED } },
  ledger: LedgerType.RELEASE,
  payment: null,
};

export const TRANSITIONS = {
  /** The message of a reservation has come: its row is made first, in the same transaction as what becomes of it. */
  arrive: { ...NOTHING, reservation: { from: [], to: R.PENDING_DB } },
  place: {
    order: { from: [], to: O.CREATED },
    reservation: { from: [R.PENDING_DB], to: R.ORDERED },
    unit: { from: [T.AVAILABLE], to: T.CLAIMED },
    ledger: LedgerType.ALLOCATE,
    payment: null,
  },
  refuse: { ...NOTHING, reservation: { from: [R.PENDING_DB], to: R.REJECTED } },
  /** A reservation that ends without an order is closed by a row of its own, so that a late message finds it. */
  lapse: { ...NOTHING, reservation: { from: [], to: R.EXPIRED } },
  /** Past its recovery deadline: a human decides. */
  'hand-over': { ...NOTHING, reservation: { from: [R.PENDING_DB], to: R.MANUAL_REQUIRED } },
  /** The human has decided: no order, and the unit goes back. */
  'end-by-hand': { ...NOTHING, reservation: { from: [R.MANUAL_REQUIRED], to: R.EXPIRED } },

  'start-paying': { ...NOTHING, order: { from: [O.CREATED], to: O.PAYING }, payment: { from: [], to: P.CREATED } },
  /** The channel has not answered in time: it is asked later. */
  'payment-unknown': { ...NOTHING, payment: { from: [P.CREATED], to: P.UNKNOWN } },
  'payment-failed': { ...NOTHING, payment: { from: [P.CREATED, P.UNKNOWN], to: P.FAILED } },
  /** Money that arrives is believed also where the channel had said that the payment failed. */
  pay: {
    order: { from: [O.CREATED, O.PAYING], to: O.PAID },
    reservation: null,
    unit: { from: [T.CLAIMED], to: T.SOLD },
    ledger: LedgerType.SOLD,
    payment: { from: [P.CREATED, P.UNKNOWN, P.FAILED], to: P.SUCCEEDED },
  },
  /** Money for an order that has ended, or that another payment has paid: the order stays as it is. */
  'late-payment': { ...NOTHING, payment: { from: [P.CREATED, P.UNKNOWN, P.FAILED], to: P.REFUND_PENDING } },
  'return-late-payment': { ...NOTHING, payment: { from: [P.REFUND_PENDING], to: P.REFUNDED } },

  /** Only when `expire_at` has passed by PostgreSQL's clock. Reason PAY_TIMEOUT. */
  expire: CANCEL,
  /** By the order's user. Reason USER_CANCELLED. */
  cancel: CANCEL,

  /** The unit is held until the money is back. */
  'request-refund': {
    ...NOTHING,
    order: { from: [O.PAID], to: O.REFUND_PENDING },
    reservation: { from: [R.ORDERED], to: R.RELEASE_PENDING },
    payment: { from: [P.SUCCEEDED], to: P.REFUND_PENDING },
  },
  'complete-refund': {
    order: { from: [O.REFUND_PENDING], to: O.CLOSED },
    reservation: { from: [R.RELEASE_PENDING], to: R.RELEASED },
    unit: { restocked: { from: [T.SOLD], to: T.AVAILABLE }, withdrawn: { from: [T.SOLD], to: T.RELEASED } },
    ledger: LedgerType.RELEASE,
    payment: { from: [P.REFUND_PENDING], to: P.REFUNDED },
  },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;
export const TRANSITION_NAMES = Object.keys(TRANSITIONS) as readonly TransitionName[];

/** What moves: the names under which a transition lists its moves. */
export type MachineName = 'order' | 'reservation' | 'unit' | 'payment';

/** The move of one machine in a transition; `fate` decides where the rule of the activity does. null: untouched. */
export function moveOf(name: TransitionName, machine: MachineName, fate: UnitFate): Move<number> | null {
  const move: Move<number> | Readonly<Record<UnitFate, Move<number>>> | null = TRANSITIONS[name][machine];
  return move !== null && 'restocked' in move ? move[fate] : move;
}

/** Every edge of a machine as `from → to[]`; the key null holds the states in which a row may be made. */
export function edgesOf(machine: MachineName): ReadonlyMap<number | null, readonly number[]> {
  const edges = new Map<number | null, Set<number>>();
  for (const name of TRANSITION_NAMES) {
    for (const fate of ['restocked', 'withdrawn'] as const) {
      const move = moveOf(name, machine, fate);
      if (move === null) continue;
      for (const from of move.from.length === 0 ? [null] : move.from) edges.set(from, (edges.get(from) ?? new Set()).add(move.to));
    }
  }
  return new Map([...edges].map(([from, to]) => [from, [...to].toSorted((one, other) => one - other)]));
}

/** An order whose unit is bound to its user. After the others the user may buy again, where the activity allows it. */
export function orderHasEnded(status: number): boolean {
  return status === O.CANCELLED || status === O.CLOSED;
}

/**
 * Expands a `PayerSpec` into what the client of one order does about paying, and what the payment channel does for it. Pure and seeded by the arrival that
 * made the request, so that it does not depend on when or in which order the clients hear of their orders.
 */
import type { OrderId } from '../domain/ids.js';
import type { CallbackStatus } from '../domain/payment-contract.js';
import { seededRandom } from './arrival-plan.js';
import type { LoadSpec, PayerSpec } from './load-spec.js';

export const PAYER_KINDS = ['never', 'in-time', 'late', 'twice', 'refund', 'cancel'] as const;
export type PayerKind = (typeof PAYER_KINDS)[number];

export interface PlannedPayer {
  readonly kind: PayerKind;
  /** When it starts to pay or cancels, milliseconds after it heard of its order. 0 for `never`. */
  readonly actsAfterMs: number;
  /** It starts the payment with the system before the channel takes its money. */
  readonly announced: boolean;
  /** The channel takes the money and does not call back. */
  readonly silent: boolean;
  /** When the first callback comes, milliseconds after it heard of its order. */
  readonly callbackAfterMs: number;
  /** Of a silent channel: what it would have to say, and only says when it is asked. */
  readonly callbacks: readonly PlannedCallback[];
}

/** One callback of the channel, in the order in which they are sent. */
export interface PlannedCallback {
  readonly tradeNo: string;
  readonly callbackId: string;
  readonly says: CallbackStatus;
  /** Added to the order's amount, in minor units: 0, or −1 where the amounts differ. */
  readonly amountOff: number;
  /** About an order that nobody has. */
  readonly unknownOrder: boolean;
}

const NEVER: PlannedPayer = { kind: 'never', actsAfterMs: 0, announced: false, silent: false, callbackAfterMs: 0, callbacks: [] };
/** Odd, so that neighbours start far apart in the generator's 32 bits. */
const SPREAD = 0x9e3779b1;
/** Order ids of callbacks about unknown orders: below every id that the system gives out, which begins with a time. */
const FIRST_UNKNOWN_ORDER = 1_000_000_007;

export function unknownOrderId(arrival: number): OrderId {
  return String(FIRST_UNKNOWN_ORDER + arrival);
}

function kindOf(draw: number, shares: PayerSpec['shares']): PayerKind {
  let upTo = 0;
  for (const [kind, share] of [['in-time', shares.inTime], ['late', shares.late], ['twice', shares.twice], ['refund', shares.refund], ['cancel', shares.cancel]] as const) {
    upTo += share;
    if (draw < upTo) return kind;
  }
  return 'never';
}

function callbacksOf(seed: number, arrival: number, trades: number, channel: PayerSpec['channel'], random: () => number): PlannedCallback[] {
  const callbacks: PlannedCallback[] = [];
  const add = (callback: Omit<PlannedCallback, 'callbackId'>): void => {
    callbacks.push({ ...callback, callbackId: `c${String(seed)}-${String(arrival)}-${String(callbacks.length)}` });
  };
  for (let trade = 0; trade < trades; trade += 1) {
    const about = { tradeNo: `t${String(seed)}-${String(arrival)}-${String(trade)}`, unknownOrder: false };
    if (random() < channel.pendingFirst) add({ ...about, says: 'PENDING', amountOff: 0 });
    add({ ...about, says: 'SUCCEEDED', amountOff: random() < channel.wrongAmount ? -1 : 0 });
    const last = callbacks.at(-1);
    if (random() < channel.repeated && last !== undefined) callbacks.push(last);
    if (random() < channel.contradicted) add({ ...about, says: 'FAILED', amountOff: 0 });
  }
  if (random() < channel.unknownOrder) add({ tradeNo: `t${String(seed)}-${String(arrival)}-unknown`, says: 'SUCCEEDED', amountOff: 0, unknownOrder: true });
  return callbacks;
}

/** Of a silent channel: the money of the first trade. */
function isFirstMoney({ says, unknownOrder }: PlannedCallback, index: number, all: readonly PlannedCallback[]): boolean {
  return says === 'SUCCEEDED' && !unknownOrder && all.findIndex((other) => other.says === 'SUCCEEDED') === index;
}

/** `arrival`: the one that made the request. The same for the same spec on every machine. */
export function payerAt({ seed, payers }: Pick<LoadSpec, 'seed' | 'payers'>, arrival: number): PlannedPayer {
  if (payers === null) return NEVER;
  const random = seededRandom(Math.imul(arrival + 1, SPREAD) ^ seed);
  const kind = kindOf(random(), payers.shares);
  if (kind === 'never') return NEVER;
  const within = (min: number, max: number): number => min + random() * (max - min);
  const actsAfterMs = within(payers.afterMsMin, payers.afterMsMax);
  const callbackAfterMs = kind === 'late' ? within(payers.lateAfterMsMin, payers.lateAfterMsMax) : actsAfterMs + payers.callbackAfterMs;
  if (kind === 'cancel') return { kind, actsAfterMs, announced: false, silent: false, callbackAfterMs, callbacks: [] };
  const announced = random() >= payers.channel.unannounced;
  const silent = random() < payers.channel.silent && announced && kind === 'in-time';
  const callbacks = callbacksOf(seed, arrival, kind === 'twice' ? 2 : 1, payers.channel, random);
  return { kind, actsAfterMs, announced, silent, callbackAfterMs, callbacks: silent ? callbacks.filter(isFirstMoney) : callbacks };
}

/**
 * Expands a `PayerSpec` into what the client of one order does about paying, and what the payment channel does for it. Pure and seeded by the arrival that
 * made the request, so that it does not depend on when or in which order the clients hear of their orders.
 */
import type { OrderId } from '../domain/ids.js';
import { seededRandom } from './arrival-plan.js';
import type { LoadSpec, PayerSpec } from './load-spec.js';

export const PAYER_KINDS = ['never', 'in-time', 'late', 'twice', 'cancel'] as const;
export type PayerKind = (typeof PAYER_KINDS)[number];

export interface PlannedPayer {
  readonly kind: PayerKind;
  /** Milliseconds after it heard of its order. 0 for `never`. */
  readonly actsAfterMs: number;
  readonly callbacks: readonly PlannedCallback[];
}

/** One callback of the channel, in the order in which they are sent. */
export interface PlannedCallback {
  readonly channelTradeNo: string;
  readonly callbackId: string;
  readonly says: 'SUCCEEDED' | 'FAILED';
  /** Added to the order's amount, in minor units: 0, or −1 where the amounts differ. */
  readonly amountOff: number;
  /** About an order that nobody has. */
  readonly unknownOrder: boolean;
}

/** Odd, so that neighbours start far apart in the generator's 32 bits. */
const SPREAD = 0x9e3779b1;
/** Order ids of callbacks about unknown orders: below every id that the system gives out, which begins with a time. */
const FIRST_UNKNOWN_ORDER = 1_000_000_007;

export function unknownOrderId(arrival: number): OrderId {
  return String(FIRST_UNKNOWN_ORDER + arrival);
}

function kindOf(draw: number, { inTime, late, twice, cancel }: PayerSpec['shares']): PayerKind {
  if (draw < inTime) return 'in-time';
  if (draw < inTime + late) return 'late';
  if (draw < inTime + late + twice) return 'twice';
  return draw < inTime + late + twice + cancel ? 'cancel' : 'never';
}

function callbacksOf(seed: number, arrival: number, trades: number, channel: PayerSpec['channel'], random: () => number): PlannedCallback[] {
  const callbacks: PlannedCallback[] = [];
  const add = (callback: Omit<PlannedCallback, 'callbackId'>): void => {
    callbacks.push({ ...callback, callbackId: `c${String(seed)}-${String(arrival)}-${String(callbacks.length)}` });
  };
  for (let trade = 0; trade < trades; trade += 1) {
    const channelTradeNo = `t${String(seed)}-${String(arrival)}-${String(trade)}`;
    add({ channelTradeNo, says: 'SUCCEEDED', amountOff: random() < channel.wrongAmount ? -1 : 0, unknownOrder: false });
    const last = callbacks.at(-1);
    if (random() < channel.repeated && last !== undefined) callbacks.push(last);
    if (random() < channel.contradicted) add({ channelTradeNo, says: 'FAILED', amountOff: 0, unknownOrder: false });
  }
  if (random() < channel.unknownOrder) add({ channelTradeNo: `t${String(seed)}-${String(arrival)}-unknown`, says: 'SUCCEEDED', amountOff: 0, unknownOrder: true });
  return callbacks;
}

/** `arrival`: the one that made the request. The same for the same spec on every machine. */
export function payerAt({ seed, payers }: Pick<LoadSpec, 'seed' | 'payers'>, arrival: number): PlannedPayer {
  if (payers === null) return { kind: 'never', actsAfterMs: 0, callbacks: [] };
  const random = seededRandom(Math.imul(arrival + 1, SPREAD) ^ seed);
  const kind = kindOf(random(), payers.shares);
  const [min, max] = kind === 'late' ? [payers.lateAfterMsMin, payers.lateAfterMsMax] : [payers.afterMsMin, payers.afterMsMax];
  const actsAfterMs = kind === 'never' ? 0 : min + random() * (max - min);
  const trades = kind === 'never' || kind === 'cancel' ? 0 : kind === 'twice' ? 2 : 1;
  return { kind, actsAfterMs, callbacks: trades === 0 ? [] : callbacksOf(seed, arrival, trades, payers.channel, random) };
}

/**
 * What each client was told and when: the client's side of the evidence.
 *
 * Every arrival of the plan has exactly one row in the columns, also one that was never issued; a missing or doubled index makes the
 * history incomplete, and an incomplete history judges nothing green (DESIGN §6).
 */
import type { AnswerCode } from '../domain/reason-codes.js';
import type { CallbackStatus, PaymentCode } from '../domain/payment-contract.js';
import type { OrderId, RequestId, ReservationId, UserId } from '../domain/ids.js';

/** How an arrival ended for its client. */
export const ARRIVAL_OUTCOMES = [
  /** The generator could not issue it: no free connection before its deadline. Counts against the generator. */
  'dropped',
  /** Connection refused or failed before the write: surely not sent. */
  'not-sent',
  /** An answer came. */
  'answered',
  /** Written, and no answer: lost connection or deadline. The request may have had its effect. */
  'indeterminate',
] as const;
export type ArrivalOutcome = (typeof ARRIVAL_OUTCOMES)[number];

/**
 * One row per arrival, by arrival index; all arrays have the same length. Microseconds are CLOCK_MONOTONIC. `NaN` = did not happen.
 * On disk (`history.bin`) a row is 48 bytes: u32 index, f64 ×3, u16 status, u8 code, u8 outcome, 16 bytes reservation id.
 */
export interface HistoryColumns {
  readonly length: number;
  readonly intendedUs: Float64Array;
  readonly sentUs: Float64Array;
  readonly answeredUs: Float64Array;
  readonly httpStatus: Uint16Array;
  /** Index into `ANSWER_CODES_BY_NUMBER`; 255: none or unreadable. */
  readonly answerCode: Uint8Array;
  /** Index into `ARRIVAL_OUTCOMES`. */
  readonly outcome: Uint8Array;
  /** 16 bytes per row; all zero: none told. */
  readonly reservation: Uint8Array;
}

/** One thing a client was told beyond its row in the columns: an accepted or odd first answer, or the answer to a poll of its Location. */
export interface Telling {
  readonly kind: 'first-answer' | 'poll' | 'final-poll';
  /** Arrival index of the request that was asked about. */
  readonly arrival: number;
  readonly requestId: RequestId;
  readonly userId: UserId;
  readonly askedUs: number;
  readonly answeredUs: number;
  readonly httpStatus: number;
  readonly code: AnswerCode | null;
  readonly reservationId: ReservationId | null;
  readonly orderId: OrderId | null;
  readonly location: string | null;
}

/** What a payer does about its order, and what the payment channel does for it. */
export const PAYER_ACTS = ['start-payment', 'read-order', 'callback', 'cancel', 'refund'] as const;
export type PayerAct = (typeof PAYER_ACTS)[number];

/**
 * One act of a payer or of the payment channel, and what the payment role answered. Kept apart from `Telling`: it is about money, not about who got
 * a unit. What gets no answer, or TRY_AGAIN, is asked again with the same content, as channels do: one telling per try.
 */
export interface PayerTelling {
  /** `cancel` and `refund` are what the user asks for himself, everything else is `payment`. */
  readonly kind: 'payment' | 'cancel' | 'refund';
  readonly act: PayerAct;
  /** Arrival that made the request the order came from. */
  readonly arrival: number;
  readonly userId: UserId;
  /** The order named in the request; of a callback about an unknown order, one that nobody has. */
  readonly orderId: OrderId;
  /** Ids and figures of a callback; null for the other acts. */
  readonly channelTradeNo: string | null;
  readonly callbackId: string | null;
  readonly amountMinor: string | null;
  readonly channelSays: CallbackStatus | null;
  readonly askedUs: number;
  /** null: no answer, so the act may have had its effect. */
  readonly answeredUs: number | null;
  readonly httpStatus: number | null;
  /** null: none or unreadable. */
  readonly code: PaymentCode | null;
  /** `reason` of the answer. */
  readonly reason: string | null;
}

export interface GeneratorFacts {
  readonly scheduled: number;
  readonly issued: number;
  readonly answered: number;
  readonly dropped: number;
  readonly notSent: number;
  readonly indeterminate: number;
  /** Lateness: sent − intended, microseconds. */
  readonly latenessP50Us: number;
  readonly latenessP99Us: number;
  readonly latenessMaxUs: number;
  /** Wall time of the storm from the first intended to the last intended arrival. */
  readonly startedUs: number;
  readonly endedUs: number;
  readonly cpuSeconds: number;
  readonly maxTickGapUs: number;
}

export interface HistoryFacts {
  readonly columns: HistoryColumns;
  readonly tellings: readonly Telling[];
  /** In the order in which they were answered or given up. Empty when nobody pays. */
  readonly payerTellings: readonly PayerTelling[];
  readonly generator: GeneratorFacts;
  /** Every index of the plan is there exactly once. */
  readonly complete: boolean;
  readonly problems: readonly string[];
}

export function outcomeName(columns: HistoryColumns, index: number): ArrivalOutcome {
  const outcome = ARRIVAL_OUTCOMES[columns.outcome[index] ?? 0];
  if (outcome === undefined) throw new Error(`row ${String(index)} has outcome ${String(columns.outcome[index])}`);
  return outcome;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** The reservation id told in a row as a UUID string, or null. */
export function reservationAt(columns: HistoryColumns, index: number): ReservationId | null {
  const from = index * 16;
  let hex = '';
  let any = 0;
  for (let at = from; at < from + 16; at += 1) {
    const byte = columns.reservation[at] ?? 0;
    any |= byte;
    hex += HEX[byte] ?? '00';
  }
  if (any === 0) return null;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * The gateway's answers as values: each says no more than the stores can prove, and every one of them is made here.
 */
import { HTTP_STATUS_OF, requestLocation, type Answer } from '../../domain/answer.js';
import type { RequestId, SkuKey } from '../../domain/ids.js';
import { AnswerCode } from '../../domain/reason-codes.js';
import { RedisRecordState, ReservationStatus } from '../../domain/status-codes.js';
import type { DurableRequestState } from '../ledger/ledger-port.js';
import type { StockRecord } from '../stock/stock-port.js';

/** An answer with what HTTP needs besides its body. */
export interface GatewayAnswer {
  readonly httpStatus: number;
  readonly answer: Answer;
  /** Path where the outcome can be asked for; null where there is nothing to ask. */
  readonly location: string | null;
}

/** When a poll of a queued request makes sense: an order usually exists by then. */
const POLL_AFTER_MS = 500;
/** After a refusal for load or a broken store. */
const TRY_AGAIN_AFTER_MS = 1_000;

/** Paying or giving back what one holds takes a while. */
const HOLDS_RETRY_AFTER_MS = 5_000;

const NO_PROBLEMS: readonly string[] = [];

const BLANK: Answer = { code: AnswerCode.UNAVAILABLE, requestId: null, reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: null };

function answerOf(fields: Partial<Answer> & Pick<Answer, 'code'>, location: string | null = null, httpStatus?: number): GatewayAnswer {
  return { httpStatus: httpStatus ?? HTTP_STATUS_OF[fields.code], answer: { ...BLANK, ...fields }, location };
}

function locationOf(sku: SkuKey, requestId: RequestId): string {
  return requestLocation(sku.activityId, sku.skuId, requestId);
}

export function invalid(problems: readonly string[], requestId: RequestId | null): GatewayAnswer {
  return answerOf({ code: AnswerCode.INVALID, problems, requestId });
}

export function notFound(): GatewayAnswer {
  return answerOf({ code: AnswerCode.NOT_FOUND });
}

export function limited(requestId: RequestId | null, retryAfterMs = TRY_AGAIN_AFTER_MS): GatewayAnswer {
  return answerOf({ code: AnswerCode.LIMITED, requestId, retryAfterMs });
}

/** As much is under way as can be finished in time. `reason`: what kept it out, where that is not the queue itself. */
export function queueFull(requestId: RequestId, reason: string | null = null): GatewayAnswer {
  return answerOf({ code: AnswerCode.QUEUE_FULL, requestId, reason, retryAfterMs: TRY_AGAIN_AFTER_MS });
}

/** Nothing left; true now, and `retryAfterMs` says when to look again. */
export function soldOut(code: 'TEMP_SOLD_OUT' | 'FINAL_SOLD_OUT', requestId: RequestId, retryAfterMs: number): GatewayAnswer {
  // Written out: the answer to nearly everybody, and `answerOf` costs five times as much.
  return { httpStatus: 410, answer: { code, requestId, reservationId: null, orderId: null, reason: null, problems: NO_PROBLEMS, retryAfterMs }, location: null };
}

export function permitInvalid(requestId: RequestId, reason: string): GatewayAnswer {
  return answerOf({ code: AnswerCode.PERMIT_INVALID, requestId, reason });
}

/** `reason`: whose limit, `USER` or `DEVICE`. */
export function holdLimit(requestId: RequestId, reason: 'USER' | 'DEVICE'): GatewayAnswer {
  return answerOf({ code: AnswerCode.HOLD_LIMIT, requestId, reason, retryAfterMs: HOLDS_RETRY_AFTER_MS });
}

/** This Redis is not the one that was warmed up, or is being rebuilt: nothing was reserved. */
export function paused(requestId: RequestId): GatewayAnswer {
  return answerOf({ code: AnswerCode.PAUSED, requestId, retryAfterMs: TRY_AGAIN_AFTER_MS });
}

export function unavailable(requestId: RequestId | null): GatewayAnswer {
  return answerOf({ code: AnswerCode.UNAVAILABLE, requestId, retryAfterMs: TRY_AGAIN_AFTER_MS });
}

export function notStarted(requestId: RequestId, startsInMs: number): GatewayAnswer {
  return answerOf({ code: AnswerCode.NOT_STARTED, requestId, retryAfterMs: Math.max(1, startsInMs) });
}

export function ended(requestId: RequestId): GatewayAnswer {
  return answerOf({ code: AnswerCode.ENDED, requestId });
}

/** Definite refusals: nothing was reserved for this request id. */
export function refused(code: 'IDEMPOTENCY_CONFLICT' | 'USER_HAS_ONE' | 'SOLD_OUT', requestId: RequestId): GatewayAnswer {
  return answerOf({ code, requestId });
}

/** May or may not be reserved. Carries no reservation id, because there may be none. */
export function resultUnknown(sku: SkuKey, requestId: RequestId): GatewayAnswer {
  return answerOf({ code: AnswerCode.RESULT_UNKNOWN, requestId, retryAfterMs: POLL_AFTER_MS }, locationOf(sku, requestId));
}

/** A new reservation; `confirmed`: the broker said that it has the message. */
export function accepted(sku: SkuKey, requestId: RequestId, reservationId: string, confirmed: boolean): GatewayAnswer {
  const code = confirmed ? AnswerCode.QUEUED : AnswerCode.QUEUED_PENDING_MESSAGE;
  return answerOf({ code, requestId, reservationId, retryAfterMs: POLL_AFTER_MS }, locationOf(sku, requestId));
}

/** The state of a reservation that was there before, from Redis: a repeat of a POST, or a query. Always 200. */
export function stateOfRecord(sku: SkuKey, record: StockRecord): GatewayAnswer {
  const { requestId, reservationId } = record;
  const location = locationOf(sku, requestId);
  switch (record.state) {
    case RedisRecordState.PENDING:
      return answerOf({ code: AnswerCode.QUEUED_PENDING_MESSAGE, requestId, reservationId, retryAfterMs: POLL_AFTER_MS }, location, 200);
    case RedisRecordState.SENT:
      return answerOf({ code: AnswerCode.QUEUED, requestId, reservationId, retryAfterMs: POLL_AFTER_MS }, location, 200);
    case RedisRecordState.ORDERED:
      return answerOf({ code: AnswerCode.ORDERED, requestId, reservationId, orderId: record.orderId }, location);
    case RedisRecordState.REJECTED:
      return answerOf({ code: AnswerCode.REJECTED, requestId, reservationId, reason: record.reason }, location);
    case RedisRecordState.RELEASED:
      return answerOf({ code: AnswerCode.RELEASED, requestId, reservationId, orderId: record.orderId, reason: record.reason }, location);
  }
}

/** The same from PostgreSQL. A row proves that the message arrived, so an unfinished one is QUEUED. */
export function stateOfRow(sku: SkuKey, state: DurableRequestState): GatewayAnswer {
  const { requestId, reservationId, orderId } = state;
  const location = locationOf(sku, requestId);
  switch (state.reservationStatus) {
    case ReservationStatus.ORDERED:
    // A refund has begun: until the money is back the unit is held, and Redis says ORDERED of it too.
    case ReservationStatus.RELEASE_PENDING:
      return answerOf({ code: AnswerCode.ORDERED, requestId, reservationId, orderId }, location);
    case ReservationStatus.REJECTED:
      return answerOf({ code: AnswerCode.REJECTED, requestId, reservationId, reason: state.failureCode }, location);
    case ReservationStatus.RELEASED:
    case ReservationStatus.EXPIRED:
      return answerOf({ code: AnswerCode.RELEASED, requestId, reservationId, orderId, reason: state.failureCode }, location);
    default:
      return answerOf({ code: AnswerCode.QUEUED, requestId, reservationId, retryAfterMs: POLL_AFTER_MS }, location, 200);
  }
}

/** Found nowhere (yet): says nothing about the outcome and invites to ask again, never to buy again. */
export function notFoundYet(sku: SkuKey, requestId: RequestId): GatewayAnswer {
  return answerOf({ code: AnswerCode.NOT_FOUND_YET, requestId, retryAfterMs: POLL_AFTER_MS }, locationOf(sku, requestId));
}

/** Somebody else's request: not even its state is told. */
export function forbidden(): GatewayAnswer {
  return answerOf({ code: AnswerCode.FORBIDDEN });
}

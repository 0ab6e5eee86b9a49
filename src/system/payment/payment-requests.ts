/** The requests of the payment role as values: what is asked, and the answer that it gets. No HTTP here. */
import { isPositiveInt8 } from '../../domain/ids.js';
import { PAYMENT_HTTP_STATUS, type PaymentAnswer, type PaymentCode } from '../../domain/payment-contract.js';
import type { RoleSurroundings } from '../role.js';
import type { LifeAnswer, LifeOutcome, OrderLife } from './order-life-port.js';
import { isProvider, readCallback } from './read-callback.js';

export type PaymentAction = 'look' | 'pay' | 'cancel' | 'refund' | 'callback';

export interface PaymentRequest {
  readonly action: PaymentAction;
  readonly orderId: string;
  readonly userId: string | undefined;
  /** null: too large, or the client went away. */
  readonly body: string | null;
}

export interface PaymentReply {
  readonly httpStatus: number;
  readonly answer: PaymentAnswer;
}

export interface PaymentRequestTools {
  readonly life: OrderLife;
  readonly callbackSecret: string | null;
  readonly log: RoleSurroundings['log'];
}

function refuse(code: PaymentCode, problems: readonly string[] = []): PaymentReply {
  const answer: PaymentAnswer = { code, orderId: null, paymentId: null, orderStatus: null, amount: null, currency: null, reason: null, repeated: false, problems };
  return { httpStatus: PAYMENT_HTTP_STATUS[code], answer };
}

/** Nothing is known of it, or it may have been done. */
export function tryAgain(): PaymentReply {
  return refuse('TRY_AGAIN');
}

export function notFound(): PaymentReply {
  return refuse('NOT_FOUND');
}

/** Answers one request. Never rejects for an operating failure. */
export async function answerPayment(request: PaymentRequest, tools: PaymentRequestTools): Promise<PaymentReply> {
  if (request.body === null) return refuse('INVALID', ['the body is too large']);
  if (request.action === 'callback') return answerCallback(request.body, tools);
  const { orderId, userId, action } = request;
  if (userId === undefined || !isPositiveInt8(userId)) return refuse('INVALID', ['X-User-Id is missing or malformed']);
  if (!isPositiveInt8(orderId)) return refuse('NOT_FOUND');
  switch (action) {
    case 'look':
      return replyOf(action, await tools.life.look(orderId, userId), tools);
    case 'cancel':
      return replyOf(action, await tools.life.cancel(orderId, userId), tools);
    case 'refund':
      return replyOf(action, await tools.life.requestRefund(orderId, userId), tools);
    case 'pay': {
      const provider = providerIn(request.body);
      if (provider === null) return refuse('INVALID', ['provider is missing or malformed']);
      return replyOf(action, await tools.life.startPaying(orderId, userId, provider), tools);
    }
  }
}

function providerIn(body: string): string | null {
  try {
    const parsed = JSON.parse(body) as { readonly provider?: unknown } | null;
    return isProvider(parsed?.provider) ? parsed.provider : null;
  } catch {
    return null;
  }
}

async function answerCallback(body: string, tools: PaymentRequestTools): Promise<PaymentReply> {
  const read = readCallback(body, tools.callbackSecret);
  if (!read.ok) {
    tools.log('warn', 'a callback was refused', { code: read.code, problems: read.problems.join('; ') });
    return refuse(read.code, read.problems);
  }
  const reply = replyOf('callback', await tools.life.takeCallback(read.callback), tools);
  const { code, reason } = reply.answer;
  if (code === 'CONTRADICTION' || code === 'UNMATCHED') tools.log('error', 'a callback fits no order as it should', { code, reason, tradeNo: read.callback.tradeNo });
  return reply;
}

function replyOf(action: PaymentAction, end: LifeOutcome<LifeAnswer>, { log }: PaymentRequestTools): PaymentReply {
  if (end.outcome !== 'done') {
    log(end.outcome === 'refused' ? 'error' : 'warn', 'a payment request was not decided', { action, outcome: end.outcome, reason: end.reason });
    return tryAgain();
  }
  return { httpStatus: httpStatusOf(action, end.value), answer: { ...end.value, problems: [] } };
}

function httpStatusOf(action: PaymentAction, { code, repeated }: LifeAnswer): number {
  if (code === 'PAYING') return repeated ? 200 : 201;
  if (code === 'REFUND_PENDING' && action === 'refund') return 202;
  return PAYMENT_HTTP_STATUS[code];
}

/** The requests of payers and of the payment channel as text, and what their answers say. */
import { createHmac } from 'node:crypto';

import { PAYMENT_CALLBACKS_PATH, PAYMENT_CODES, cancelPath, orderPath, paymentsPath, refundPath, signedText, type PaymentCallback, type PaymentCode } from '../domain/payment-contract.js';
import type { OrderId, UserId } from '../domain/ids.js';
import type { HostPort } from '../domain/role-config.js';

/** Name of the channel that the generator plays. */
export const PROVIDER = 'fake';

export interface PaymentTexts {
  startPayment(orderId: OrderId, userId: UserId): string;
  readOrder(orderId: OrderId, userId: UserId): string;
  cancel(orderId: OrderId, userId: UserId): string;
  refund(orderId: OrderId, userId: UserId): string;
  callback(callback: Omit<PaymentCallback, 'signature'>): string;
}

/** `secret`: of the callbacks' signatures; null: they are not signed. */
export function paymentTextsFor(target: HostPort, secret: string | null): PaymentTexts {
  const host = `Host: ${target.host}:${String(target.port)}\r\n`;
  const post = (path: string, user: string, body: string): string =>
    `POST ${path} HTTP/1.1\r\n${host}Content-Type: application/json\r\n${user}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
  const ofUser = (userId: UserId): string => `X-User-Id: ${userId}\r\n`;
  return {
    startPayment: (orderId, userId) => post(paymentsPath(orderId), ofUser(userId), JSON.stringify({ provider: PROVIDER })),
    readOrder: (orderId, userId) => `GET ${orderPath(orderId)} HTTP/1.1\r\n${host}${ofUser(userId)}\r\n`,
    cancel: (orderId, userId) => post(cancelPath(orderId), ofUser(userId), '{}'),
    refund: (orderId, userId) => post(refundPath(orderId), ofUser(userId), '{}'),
    callback: (callback) => {
      const signature = secret === null ? {} : { signature: createHmac('sha256', secret).update(signedText(callback)).digest('hex') };
      return post(PAYMENT_CALLBACKS_PATH, '', JSON.stringify({ ...callback, ...signature }));
    },
  };
}

/** What the generator needs of a `PaymentAnswer`; nulls where it is none. */
export interface ReadPaymentAnswer {
  readonly code: PaymentCode | null;
  readonly paymentId: string | null;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly reason: string | null;
}

const UNREADABLE: ReadPaymentAnswer = { code: null, paymentId: null, amount: null, currency: null, reason: null };

export function readPaymentAnswer(body: string): ReadPaymentAnswer {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return UNREADABLE;
  }
  if (typeof parsed !== 'object' || parsed === null) return UNREADABLE;
  const value = parsed as Record<string, unknown>;
  const text = (field: string): string | null => (typeof value[field] === 'string' ? value[field] : null);
  return { code: PAYMENT_CODES.find((code) => code === value['code']) ?? null, paymentId: text('paymentId'), amount: text('amount'), currency: text('currency'), reason: text('reason') };
}

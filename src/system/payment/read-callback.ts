/** From the bytes of a callback to a callback, with every problem named, and its signature checked. */
import { createHmac, timingSafeEqual } from 'node:crypto';

import { CALLBACK_STATUSES, signedText, type CallbackStatus, type PaymentCallback } from '../../domain/payment-contract.js';

export type ReadCallback =
  | { readonly ok: true; readonly callback: PaymentCallback }
  | { readonly ok: false; readonly code: 'INVALID' | 'BAD_SIGNATURE'; readonly problems: readonly string[] };

const PROVIDER = /^[A-Za-z0-9_.-]{1,32}$/;
const NUMBER = /^[A-Za-z0-9_.:-]{1,128}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isProvider(text: unknown): text is string {
  return typeof text === 'string' && PROVIDER.test(text);
}

/** The signature of a callback under a shared secret. */
export function signCallback(callback: Omit<PaymentCallback, 'signature'>, secret: string): string {
  return createHmac('sha256', secret).update(signedText(callback)).digest('hex');
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** `secret` null: signatures are not looked at. */
export function readCallback(text: string, secret: string | null): ReadCallback {
  const value = jsonObject(text);
  if (value === null) return { ok: false, code: 'INVALID', problems: ['the body is not a JSON object'] };
  const problems: string[] = [];
  const need = (field: keyof PaymentCallback, holds: boolean): void => {
    if (!holds) problems.push(`${field} is missing or malformed`);
  };
  const matches = (field: unknown, pattern: RegExp): boolean => typeof field === 'string' && pattern.test(field);
  const { provider, callbackId, tradeNo, orderId, paymentId, amount, currency, status, signature } = value;
  need('provider', isProvider(provider));
  need('callbackId', matches(callbackId, NUMBER));
  need('tradeNo', matches(tradeNo, NUMBER));
  need('orderId', typeof orderId === 'string' && orderId.length > 0 && orderId.length <= 64 && !orderId.includes('\0'));
  need('paymentId', paymentId === undefined || paymentId === null || matches(paymentId, UUID));
  need('amount', Number.isSafeInteger(amount) && (amount as number) >= 0);
  need('currency', matches(currency, /^[A-Z]{3}$/));
  need('status', CALLBACK_STATUSES.some((known) => known === status));
  if (problems.length > 0) return { ok: false, code: 'INVALID', problems };
  const callback: PaymentCallback = {
    provider: provider as string, callbackId: callbackId as string, tradeNo: tradeNo as string, orderId: orderId as string,
    paymentId: (paymentId ?? null) as string | null, amount: amount as number, currency: currency as string, status: status as CallbackStatus,
  };
  if (secret !== null && !isSigned(callback, signature, secret)) return { ok: false, code: 'BAD_SIGNATURE', problems: [] };
  return { ok: true, callback };
}

function isSigned(callback: PaymentCallback, signature: unknown, secret: string): boolean {
  const expected = Buffer.from(signCallback(callback, secret));
  const given = Buffer.from(typeof signature === 'string' ? signature : '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

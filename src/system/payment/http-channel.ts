/**
 * A payment channel over HTTP, with a deadline on every call: a channel that is silent is no reason to wait.
 *
 *   GET  /v1/payments/:paymentId?provider=…   200 `{"status","tradeNo","orderId","amount","currency"}` · 404 never heard of
 *   POST /v1/refunds  `{"provider","refundId","tradeNo","amount","currency"}`   200 `{"status":"REFUNDED"|"PENDING"}` · 4xx refused
 */
import { z } from 'zod';

import type { HostPort } from '../../domain/role-config.js';
import type { ChannelState, PaymentChannel, RefundEnd } from './payment-channel-port.js';

const told = z.object({
  status: z.enum(['SUCCEEDED', 'FAILED', 'PENDING']),
  tradeNo: z.string().regex(/^[A-Za-z0-9_.:-]{1,100}$/),
  orderId: z.string().min(1).max(64),
  amount: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  currency: z.string().regex(/^[A-Z]{3}$/),
});
const refunded = z.object({ status: z.enum(['REFUNDED', 'PENDING']) });

interface Reply {
  readonly httpStatus: number;
  readonly body: unknown;
}

export function createHttpChannel(address: HostPort, timeoutMs: number): PaymentChannel {
  const root = `http://${address.host}:${String(address.port)}`;
  /** Calls under way. Held here: a signal that only `AbortSignal.any` holds may be collected as garbage before it fires, and the call then waits for ever (Node 20). */
  const underWay = new Set<AbortController>();
  let closed = false;

  /** null and a reason: no usable answer within the deadline. */
  async function call(path: string, body: object | null): Promise<Reply | { readonly reason: string }> {
    if (closed) return { reason: 'the channel is closed' };
    const giveUp = new AbortController();
    underWay.add(giveUp);
    const deadline = setTimeout(() => {
      giveUp.abort(new Error(`no answer within ${String(timeoutMs)} ms`));
    }, timeoutMs);
    try {
      const response = await fetch(root + path, {
        method: body === null ? 'GET' : 'POST',
        signal: giveUp.signal,
        ...(body === null ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { httpStatus: response.status, body: response.status === 200 ? JSON.parse(text) as unknown : null };
    } catch (error) {
      return { reason: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
    } finally {
      clearTimeout(deadline);
      underWay.delete(giveUp);
    }
  }

  return {
    async query(provider, paymentId): Promise<ChannelState> {
      const reply = await call(`/v1/payments/${encodeURIComponent(paymentId)}?provider=${encodeURIComponent(provider)}`, null);
      if ('reason' in reply) return { outcome: 'no-answer', reason: reply.reason };
      if (reply.httpStatus === 404) return { outcome: 'never-heard' };
      const parsed = told.safeParse(reply.body);
      return parsed.success ? { outcome: 'told', ...parsed.data } : { outcome: 'no-answer', reason: `HTTP ${String(reply.httpStatus)} without a usable body` };
    },
    async refund(request): Promise<RefundEnd> {
      const reply = await call('/v1/refunds', request);
      if ('reason' in reply) return { outcome: 'no-answer', reason: reply.reason };
      if (reply.httpStatus >= 400 && reply.httpStatus < 500 && reply.httpStatus !== 429) return { outcome: 'refused', reason: `HTTP ${String(reply.httpStatus)}` };
      const parsed = refunded.safeParse(reply.body);
      if (!parsed.success) return { outcome: 'no-answer', reason: `HTTP ${String(reply.httpStatus)} without a usable body` };
      return parsed.data.status === 'REFUNDED' ? { outcome: 'refunded' } : { outcome: 'pending', reason: 'the channel is at work on it' };
    },
    close() {
      closed = true;
      for (const giveUp of underWay) giveUp.abort(new Error('the channel is closed'));
      return Promise.resolve();
    },
  };
}

/** The channel that can be asked: it knows the money it took, and is slow, silent, wrong or not done by its shares. */
import { afterEach, describe, expect, it } from 'vitest';

import type { ChannelAnswers } from '../facts/load-spec.js';
import { FakeChannel, type Trade } from './fake-channel.js';

const TRUE: ChannelAnswers = { slow: 0, none: 0, contradictory: 0, refundPending: 0 };
const TRADE: Trade = { tradeNo: 't1', orderId: '12', amount: 9900, currency: 'CNY', callsBack: true };

const channels: FakeChannel[] = [];
afterEach(async () => {
  await Promise.all(channels.splice(0).map((channel) => channel.close()));
});

async function channelThat(answers: Partial<ChannelAnswers>): Promise<{ channel: FakeChannel; ask: (path: string, body?: object, timeoutMs?: number) => Promise<{ status: number; body: unknown }> }> {
  const channel = new FakeChannel({ ...TRUE, ...answers }, 1);
  channels.push(channel);
  const { host, port } = await channel.listen({ host: '127.0.0.1', port: 0 });
  return {
    channel,
    ask: async (path, body, timeoutMs = 5_000) => {
      const response = await fetch(`http://${host}:${String(port)}${path}`, {
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
  };
}

describe('a question', () => {
  it('about money that was taken is told the trade; the first trade is the payment\'s', async () => {
    const { channel, ask } = await channelThat({});
    const told: string[] = [];
    channel.onTold = (paymentId) => told.push(paymentId);
    channel.took('p 1', TRADE);
    channel.took('p 1', { ...TRADE, tradeNo: 't2' });
    expect(await ask('/v1/payments/p%201?provider=fake')).toEqual({ status: 200, body: { status: 'SUCCEEDED', tradeNo: 't1', orderId: '12', amount: 9900, currency: 'CNY' } });
    expect(told).toEqual(['p 1']);
    expect(await ask('/v1/payments/p2?provider=fake')).toMatchObject({ status: 404 });
  });

  it('is lied to only about money that the channel calls back about', async () => {
    const { channel, ask } = await channelThat({ contradictory: 1 });
    channel.took('p1', TRADE);
    channel.took('p2', { ...TRADE, callsBack: false });
    expect((await ask('/v1/payments/p1')).body).toMatchObject({ status: 'FAILED' });
    expect((await ask('/v1/payments/p2')).body).toMatchObject({ status: 'SUCCEEDED' });
  });

  it('may get no answer, or one that is late', async () => {
    const silent = await channelThat({ none: 1 });
    await expect(silent.ask('/v1/payments/p1', undefined, 100)).rejects.toThrow();
    const slow = await channelThat({ slow: 1 });
    await expect(slow.ask('/v1/payments/p1', undefined, 100)).rejects.toThrow();
  });
});

describe('a refund', () => {
  it('is done, or pending once', async () => {
    const { ask } = await channelThat({});
    expect((await ask('/v1/refunds', { refundId: 'r1' })).body).toEqual({ status: 'REFUNDED' });
    const later = await channelThat({ refundPending: 1 });
    expect((await later.ask('/v1/refunds', { refundId: 'r1' })).body).toEqual({ status: 'PENDING' });
    expect((await later.ask('/v1/refunds', { refundId: 'r1' })).body).toEqual({ status: 'REFUNDED' });
    expect((await later.ask('/v1/refunds', {})).status).toBe(400);
  });
});

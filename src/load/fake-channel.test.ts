/** The channel that can be asked: it knows the money it took, and is slow, silent, wrong or not done by its shares. */
import { afterEach, describe, expect, it } from 'vitest';

import { decodeChannelBooks, encodeChannelBooks } from '../facts/channel-books.js';
import type { ChannelAnswers } from '../facts/load-spec.js';
import { FakeChannel, type Trade } from './fake-channel.js';

const TRUE: ChannelAnswers = { slow: 0, none: 0, contradictory: 0, refundPending: 0 };
const TRADE: Trade = { tradeNo: 't1', orderId: '12', amount: 9900, currency: 'CNY', callsBack: true };

const channels: FakeChannel[] = [];
afterEach(async () => {
  await Promise.all(channels.splice(0).map((channel) => channel.close()));
});

async function channelThat(answers: Partial<ChannelAnswers>): Promise<{ channel: FakeChannel; ask: (path: string, body?: object, signal?: AbortSignal) => Promise<{ status: number; body: unknown }> }> {
  const channel = new FakeChannel({ ...TRUE, ...answers }, 1);
  channels.push(channel);
  const { host, port } = await channel.listen({ host: '127.0.0.1', port: 0 });
  return {
    channel,
    ask: async (path, body, signal = AbortSignal.timeout(20_000)) => {
      const response = await fetch(`http://${host}:${String(port)}${path}`, {
        signal,
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
    await expect(silent.ask('/v1/payments/p1', undefined, AbortSignal.timeout(100))).rejects.toThrow();
    const slow = await channelThat({ slow: 1 });
    await expect(slow.ask('/v1/payments/p1', undefined, AbortSignal.timeout(100))).rejects.toThrow();
  });
});

describe('a refund', () => {
  const CHARGE = { tradeNo: 't1', provider: 'fake', paymentId: 'p1', orderId: '12', amount: '9900', currency: 'CNY' };
  const REFUND = { refundId: 'r1', tradeNo: 't1', amount: 9900, currency: 'CNY' };
  const effects = (channel: FakeChannel): string[] => channel.books.refunds.map(({ refundId, effect }) => `${refundId} ${effect}`);

  it('is done, or pending once', async () => {
    const { channel, ask } = await channelThat({});
    channel.charge(CHARGE);
    expect((await ask('/v1/refunds', REFUND)).body).toEqual({ status: 'REFUNDED' });
    const later = await channelThat({ refundPending: 1 });
    later.channel.charge(CHARGE);
    expect((await later.ask('/v1/refunds', REFUND)).body).toEqual({ status: 'PENDING' });
    expect((await later.ask('/v1/refunds', REFUND)).body).toEqual({ status: 'REFUNDED' });
    expect((await later.ask('/v1/refunds', {})).status).toBe(400);
    expect(effects(later.channel)).toEqual(['r1 paid-back', 'r1 repeated']);
  });

  it('is made once under one key, and as often as it is asked for under others', async () => {
    const { channel, ask } = await channelThat({});
    channel.charge(CHARGE);
    for (const refundId of ['r1', 'r1', 'r2']) await ask('/v1/refunds', { ...REFUND, refundId });
    expect(effects(channel)).toEqual(['r1 paid-back', 'r1 repeated', 'r2 paid-back']);
    expect(channel.books.refunds[0]).toMatchObject({ tradeNo: 't1', amount: '9900', currency: 'CNY' });
  });

  it('of money that was never taken is refused', async () => {
    const { channel, ask } = await channelThat({});
    expect((await ask('/v1/refunds', REFUND)).status).toBe(404);
    expect(effects(channel)).toEqual(['r1 refused']);
  });

  it('has been made also where nobody hears of it', async () => {
    const { channel, ask } = await channelThat({ none: 1 });
    channel.charge(CHARGE);
    const patience = new AbortController();
    const unheard = expect(ask('/v1/refunds', REFUND, patience.signal)).rejects.toThrow();
    await expect.poll(() => effects(channel)).toEqual(['r1 paid-back']);
    setTimeout(() => { patience.abort(); }, 100);
    await unheard;
  });
});

describe('the books', () => {
  it('hold each trade once, whole or not at all', async () => {
    const { channel } = await channelThat({});
    const charge = { tradeNo: 't1', provider: 'fake', paymentId: null, orderId: '12', amount: '9899', currency: 'CNY' };
    channel.charge(charge);
    channel.charge({ ...charge, amount: '1' });
    expect(channel.books.charges).toMatchObject([charge]);
    const text = encodeChannelBooks(channel.books);
    expect(decodeChannelBooks(text)).toEqual(channel.books);
    const lines = text.trimEnd().split('\n');
    for (const damaged of [lines.slice(1), lines.slice(0, -1), [...lines, lines[0]]]) expect(() => decodeChannelBooks(damaged.join('\n'))).toThrow();
  });
});

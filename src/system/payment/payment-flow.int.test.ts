// The payment role and the compensator as they are composed, against a channel in every temper: each payment ends, and no money is lost.
import { randomBytes } from 'node:crypto';

import { expect, inject, test, vi } from 'vitest';

import { orderPath, paymentsPath, refundPath, type PaymentAnswer } from '../../domain/payment-contract.js';
import type { RoleName } from '../../domain/roles.js';
import { composeRole } from '../compose.js';
import { expectBalanced, openLife, type LifeCase, type PlacedOrder } from './life-case.test-support.js';
import type { RunningRole } from '../role.js';
import { FRIENDLY_CHANNEL, startFakePaymentChannel, type ChannelTemper, type FakePaymentChannel } from './fake-channel.test-support.js';

interface Shop extends AsyncDisposable {
  readonly fresh: LifeCase;
  readonly channel: FakePaymentChannel;
  ask(method: string, path: string, userId: string, body?: object): Promise<PaymentAnswer>;
}

async function openShop(temper: Partial<ChannelTemper>, stock: number): Promise<Shop> {
  const fresh = await openLife({ stock });
  const [paymentPort = 0, otherPort = 0] = inject('stack').lanes[0]?.rolePorts ?? [];
  const listen = { host: '127.0.0.1', port: paymentPort };
  const secret = randomBytes(8).toString('hex');
  const channel = await startFakePaymentChannel({ seed: 7, temper: { ...FRIENDLY_CHANNEL, ...temper }, listeners: [listen], secret, listen: { host: '127.0.0.1', port: 0 } });
  const base = fresh.ledger.configFor({});
  const tuning = { ...base.tuning, paymentChannel: channel.address, paymentCallbackSecret: secret, paymentQueryAfterMs: 200, channelTimeoutMs: 300 };
  const start = (role: RoleName, port: number): Promise<RunningRole> =>
    composeRole({ ...base, role, instance: `${role}-1`, tuning, listen: { host: '127.0.0.1', port } }, { log: () => undefined });
  const roles = await Promise.all([start('payment', listen.port), start('compensator', otherPort)]);
  return {
    fresh, channel,
    async ask(method, path, userId, body) {
      const response = await fetch(`http://127.0.0.1:${String(listen.port)}${path}`, { method, headers: { 'X-User-Id': userId }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
      return await response.json() as PaymentAnswer;
    },
    async [Symbol.asyncDispose]() {
      await channel.close();
      await Promise.all(roles.map((role) => role.stop()));
      await fresh[Symbol.asyncDispose]();
    },
  };
}

/** The user starts to pay with us and pays at the channel. */
async function payAtChannel({ ask, channel }: Shop, { orderId, userId }: PlacedOrder): Promise<void> {
  const started = await ask('POST', paymentsPath(orderId), userId, { provider: 'fake' });
  const { paymentId, amount, currency } = started;
  const { host, port } = channel.address;
  await fetch(`http://${host}:${String(port)}/v1/pay`, { method: 'POST', body: JSON.stringify({ provider: 'fake', paymentId, orderId, amount: Number(amount), currency }) });
}

test.each<[string, Partial<ChannelTemper>]>([
  ['friendly', {}],
  ['silent: only the queries tell', { silentShare: 1 }],
  ['slow and mute at first', { silentShare: 1, slowShare: 0.5, slowMs: 200, muteShare: 0.5 }],
  ['tells everything twice', { repeatedShare: 1 }],
  ['contradicts itself', { contradictoryShare: 1 }],
])('every payment ends: %s', async (_name, temper) => {
  await using shop = await openShop(temper, 12);
  const orders = await shop.fresh.orders(12);
  await Promise.all(orders.map((order) => payAtChannel(shop, order)));
  await vi.waitUntil(async () => shop.channel.pendingCallbacks() === 0 && (await shop.fresh.ledger.count('orders', 'status = 30')) === 12, { timeout: 20_000 });
  expect(await shop.fresh.ledger.count('payment_record', 'status = 20')).toBe(12);
  if (temper.contradictoryShare === 1) expect(await shop.fresh.ledger.count('payment_callback', "result = 'CONTRADICTION'")).toBe(12);
  await expectBalanced(shop.fresh);
});

test('some payments fail: those orders stay PAYING, and the users may try again', async () => {
  await using shop = await openShop({ failedShare: 0.5, silentShare: 0.5 }, 12);
  const orders = await shop.fresh.orders(12);
  await Promise.all(orders.map((order) => payAtChannel(shop, order)));
  await vi.waitUntil(async () => (await shop.fresh.ledger.count('payment_record', 'status in (20, 30)')) === 12, { timeout: 20_000 });
  const failed = shop.channel.trades().filter(({ status }) => status === 'FAILED').length;
  expect(failed).toBeGreaterThan(0);
  expect([await shop.fresh.ledger.count('orders', 'status = 20'), await shop.fresh.ledger.count('orders', 'status = 30')]).toEqual([failed, 12 - failed]);
  await expectBalanced(shop.fresh);
});

test('late money and refunds go back once, also when the channel takes the refund and does not say so', async () => {
  await using shop = await openShop({ muteShare: 1 }, 4);
  const [paid, late] = await shop.fresh.orders(2);
  if (paid === undefined || late === undefined) throw new Error('two orders');
  await payAtChannel(shop, paid);
  await shop.ask('POST', paymentsPath(late.orderId), late.userId, { provider: 'fake' });
  await shop.fresh.timePasses();
  await shop.fresh.life.closeExpired([late.orderId]);
  const { paymentId } = await shop.fresh.ledger.one<{ paymentId: string }>('select payment_id as "paymentId" from payment_record where order_id = $1', [late.orderId]);
  const { host, port } = shop.channel.address;
  await fetch(`http://${host}:${String(port)}/v1/pay`, { method: 'POST', body: JSON.stringify({ provider: 'fake', paymentId, orderId: late.orderId, amount: 9_900, currency: 'CNY' }) });
  await vi.waitUntil(async () => (await shop.fresh.status('orders', paid.orderId)) === 30, { timeout: 10_000 });
  await shop.ask('POST', refundPath(paid.orderId), paid.userId);
  await vi.waitUntil(async () => (await shop.fresh.ledger.count('payment_record', 'status = 50')) === 2, { timeout: 20_000 });
  expect(shop.channel.trades().map(({ refunds }) => refunds.length)).toEqual([1, 1]);
  expect([(await shop.ask('GET', orderPath(paid.orderId), paid.userId)).orderStatus, (await shop.ask('GET', orderPath(late.orderId), late.userId)).orderStatus]).toEqual([50, 40]);
  await expectBalanced(shop.fresh);
});

/** Payers and the channel against a payment role that answers, answers badly, or not at all: what was planned is asked, and every try is told. */
import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { HostPort } from '../domain/role-config.js';
import { signedText, type PaymentCallback } from '../domain/payment-contract.js';
import { expandArrivalPlan } from '../facts/arrival-plan.js';
import type { PayerTelling } from '../facts/history.js';
import type { PayerSpec } from '../facts/load-spec.js';
import { payerAt, type PayerKind, type PlannedPayer } from '../facts/payer-plan.js';
import { monoNowUs } from './mono-clock.js';
import { Payers } from './payers.js';
import { loadSpec } from './storm-run.test-support.js';
import { StubPayment, type StubPaymentRequest } from './stub-payment.test-support.js';

vi.setConfig({ testTimeout: 20_000 });

const NO_CHANNEL: PayerSpec['channel'] = { unannounced: 0, silent: 0, pendingFirst: 0, repeated: 0, contradicted: 0, wrongAmount: 0, unknownOrder: 0 };
const NO_SHARES: PayerSpec['shares'] = { inTime: 0, late: 0, twice: 0, refund: 0, cancel: 0 };
const SECRET = 'channel secret';
const ARRIVALS = 40;

const stubs: StubPayment[] = [];
afterEach(async () => {
  await Promise.all(stubs.splice(0).map((stub) => stub.stop()));
});

interface Run {
  readonly stub: StubPayment;
  readonly tellings: readonly PayerTelling[];
  readonly planned: readonly PlannedPayer[];
}

const usual = (request: StubPaymentRequest): void => {
  if (request.path.endsWith('/payments') || request.method === 'GET') request.answer(request.method === 'GET' ? 'ORDER' : 'PAYING', { paymentId: `p-${request.path.split('/')[3] ?? ''}`, amount: '9900', currency: 'CNY' });
  else if (request.path.endsWith('/cancel')) request.answer('CANCELLED');
  else if (request.path.endsWith('/refund')) request.answer('REFUND_PENDING');
  else request.answer(request.body['status'] === 'SUCCEEDED' ? 'PAID' : 'CONTRADICTION');
};

/** Every arrival hears of an order, twice; runs until all payers are done. */
async function pay(shares: Partial<PayerSpec['shares']>, channel: Partial<PayerSpec['channel']> = {}, handle: (request: StubPaymentRequest, number: number) => void = usual, channelAt: HostPort | null = null): Promise<Run> {
  const stub = await StubPayment.start(handle);
  stubs.push(stub);
  const load = loadSpec({
    ratePerSecond: ARRIVALS * 2,
    payers: { shares: { ...NO_SHARES, ...shares }, channel: { ...NO_CHANNEL, ...channel }, answers: { slow: 0, none: 0, contradictory: 0, refundPending: 0 }, afterMsMin: 0, afterMsMax: 20, lateAfterMsMin: 60, lateAfterMsMax: 80, callbackAfterMs: 2 },
  });
  const tellings: PayerTelling[] = [];
  const payers = new Payers({ targets: [stub.address], callbackSecret: SECRET, channel: channelAt }, { load, plan: expandArrivalPlan(load), tellings: { tellPayer: (telling) => void tellings.push(telling) } });
  await payers.open();
  for (let arrival = 0; arrival < ARRIVALS; arrival += 1) {
    payers.heardOfOrder(arrival, String(arrival + 1), monoNowUs());
    payers.heardOfOrder(arrival, String(arrival + 1), monoNowUs());
  }
  await vi.waitFor(() => {
    payers.tick(monoNowUs());
    expect(payers.unfinished).toBe(0);
  }, { timeout: 15_000, interval: 1 });
  await payers.close();
  return { stub, tellings, planned: Array.from({ length: ARRIVALS }, (_, arrival) => payerAt(load, arrival)) };
}

/** It was free a moment ago. */
async function freeAddress(): Promise<HostPort> {
  const stub = await StubPayment.start(() => undefined);
  await stub.stop();
  return stub.address;
}

const acts = (run: Run): string[] => run.tellings.map(({ act }) => act);

describe('payers', () => {
  it('start a payment, and the channel calls back once with what it has to collect, signed', async () => {
    const run = await pay({ inTime: 1 });
    expect(run.tellings).toHaveLength(2 * ARRIVALS);
    const callbacks = run.stub.requests.filter(({ path }) => path === '/v1/payments/callbacks');
    expect(callbacks).toHaveLength(ARRIVALS);
    for (const { body, userId } of callbacks) {
      const { signature, ...callback } = body as unknown as PaymentCallback;
      expect(callback).toMatchObject({ provider: 'fake', amount: 9900, currency: 'CNY', status: 'SUCCEEDED', paymentId: `p-${callback.orderId}` });
      expect(signature).toBe(createHmac('sha256', SECRET).update(signedText(callback)).digest('hex'));
      expect(userId).toBeNull();
    }
    expect(run.tellings.find(({ act }) => act === 'callback')).toMatchObject({ kind: 'payment', channelSays: 'SUCCEEDED', amountMinor: '9900', httpStatus: 200, code: 'PAID' });
  });

  it('cancel, and nothing else', async () => {
    const run = await pay({ cancel: 1 });
    expect(acts(run)).toEqual(Array.from({ length: ARRIVALS }, () => 'cancel'));
    expect(run.stub.requests.every(({ path, userId }) => path.endsWith('/cancel') && userId !== null)).toBe(true);
  });

  it.each<[PayerKind, Partial<PayerSpec['shares']>, number]>([
    ['twice', { twice: 1 }, 3],
    ['refund', { refund: 1 }, 3],
    ['never', {}, 0],
  ])('%s: asks so often', async (_, shares, times) => {
    expect((await pay(shares)).tellings).toHaveLength(times * ARRIVALS);
  });

  it('unannounced: read the order, and the channel names no payment of ours', async () => {
    const run = await pay({ inTime: 1 }, { unannounced: 1 });
    expect(acts(run).filter((act) => act === 'read-order')).toHaveLength(ARRIVALS);
    expect(run.stub.requests.filter(({ path }) => path === '/v1/payments/callbacks').every(({ body }) => body['paymentId'] === null)).toBe(true);
  });

  it('late: the callback comes after the time of the late ones', async () => {
    const run = await pay({ late: 1 });
    const started = new Map(run.tellings.filter(({ act }) => act === 'start-payment').map((telling) => [telling.arrival, telling.askedUs]));
    for (const telling of run.tellings) {
      if (telling.act === 'callback') expect(telling.askedUs - (started.get(telling.arrival) ?? NaN)).toBeGreaterThan(30_000);
    }
  });

  it('repeats, contradicts, errs and invents as planned', async () => {
    const run = await pay({ inTime: 1 }, { pendingFirst: 0.5, repeated: 0.5, contradicted: 0.5, wrongAmount: 0.3, unknownOrder: 0.3 });
    const planned = run.planned.flatMap(({ callbacks }) => callbacks);
    const sent = run.stub.requests.filter(({ path }) => path === '/v1/payments/callbacks').map(({ body }) => body);
    expect(sent.map((body) => body['callbackId']).sort()).toEqual(planned.map(({ callbackId }) => callbackId).sort());
    for (const status of ['PENDING', 'FAILED'] as const) {
      expect(sent.filter((body) => body['status'] === status).length).toBe(planned.filter(({ says }) => says === status).length);
      expect(planned.some(({ says }) => says === status)).toBe(true);
    }
    expect(sent.filter((body) => body['amount'] === 9899).length).toBe(planned.filter(({ amountOff }) => amountOff !== 0).length);
    expect(sent.filter((body) => Number(body['orderId']) > ARRIVALS).length).toBe(planned.filter(({ unknownOrder }) => unknownOrder).length);
  });

  it('ask again with the same content what got no answer or TRY_AGAIN, and tell every try', async () => {
    const run = await pay({ inTime: 1 }, {}, (request, number) => {
      if (number % 5 === 0) request.drop();
      else if (number % 5 === 1) request.answer('TRY_AGAIN');
      else usual(request);
    });
    expect(run.tellings).toHaveLength(run.stub.requests.length);
    expect(run.tellings.some(({ answeredUs, httpStatus, code }) => answeredUs === null && httpStatus === null && code === null)).toBe(true);
    expect(run.tellings.filter(({ code }) => code === 'PAID')).toHaveLength(ARRIVALS);
    const contents = new Set(run.stub.requests.filter(({ path }) => path.endsWith('callbacks')).map(({ body }) => JSON.stringify(body)));
    expect(contents.size).toBe(ARRIVALS);
  });

  it('whose channel is silent are done when somebody has asked it', async () => {
    const channel = await freeAddress();
    const asked = new Set<string>();
    const run = await pay({ inTime: 1 }, { silent: 1 }, (request) => {
      usual(request);
      // As the payment role does: who has a payment asks about it until the channel knows.
      const paymentId = `p-${request.path.split('/')[3] ?? ''}`;
      const ask = async (): Promise<void> => {
        const response = await fetch(`http://${channel.host}:${String(channel.port)}/v1/payments/${paymentId}?provider=fake`);
        if (response.status === 404) await ask();
        else asked.add(((await response.json()) as { tradeNo: string }).tradeNo);
      };
      void ask();
    }, channel);
    expect(acts(run)).toEqual(Array.from({ length: ARRIVALS }, () => 'start-payment'));
    await vi.waitFor(() => { expect(asked.size).toBe(ARRIVALS); }, { timeout: 15_000 });
  });

  it('stop where the order is over before the payment begins', async () => {
    const run = await pay({ inTime: 1 }, {}, (request) => { request.answer('ORDER_ENDED'); });
    expect(acts(run)).toEqual(Array.from({ length: ARRIVALS }, () => 'start-payment'));
  });
});

/** The gateway in the generator's process, over real servers: it decides as the HTTP one does, and a storm through it leaves a complete history. */
import { createHmac } from 'node:crypto';

import { afterEach, beforeEach, expect, inject, it } from 'vitest';

import { encodePermit } from '../domain/permit.js';
import { expandArrivalPlan } from '../facts/arrival-plan.js';
import { FirstAnswers } from '../load/first-answers.js';
import { FollowUps } from '../load/follow-ups.js';
import { NO_PERMITS } from '../load/permits.js';
import { HistoryRecorder } from '../load/history-recorder.js';
import type { InprocGateway } from '../load/inproc-port.js';
import { InprocStorm } from '../load/inproc-storm.js';
import { monoNowUs } from '../load/mono-clock.js';
import { Ticker } from '../load/ticker.js';
import { hotSku } from '../scenarios/hot-sku.js';
import { funnelWith } from '../scenarios/scenario.js';
import { openInprocGateway } from './inproc-worker.js';
import { dropNamespace, prepareSystem } from './prepare-system.js';
import { planRun, type RunPlan } from './run-plan.js';
import { instanceConfig, roleConfigs } from './topology.js';

const STOCK = 10;
let plan: RunPlan;
let gateway: InprocGateway;

beforeEach(async () => {
  plan = planRun(hotSku, { stock: STOCK, rate: 500, duration: 1_000, transport: 'inproc', seed: 11 }, null);
  const stack = inject('stack');
  await prepareSystem(plan, stack);
  gateway = await openInprocGateway(instanceConfig(roleConfigs(plan, stack), 'gateway-1'));
});

afterEach(async () => {
  await gateway.close();
  await dropNamespace(plan, inject('stack'));
});

it('answers as the gateway over HTTP does', async () => {
  const buy = (requestId: string, userId: string, body = '{"quantity":1}') => gateway.submit({ requestId, userId, body });
  const first = await buy('r1', '9007199254741000');
  expect(first).toMatchObject({ httpStatus: 202, location: expect.stringMatching(/\/requests\/r1$/) as string });
  expect(first.answer.reservationId).not.toBeNull();
  expect(await buy('r1', '9007199254741000')).toMatchObject({ httpStatus: 200, answer: { reservationId: first.answer.reservationId } });
  expect(await buy('r1', '9007199254741001')).toMatchObject({ httpStatus: 409, answer: { code: 'IDEMPOTENCY_CONFLICT' } });
  expect(await buy('r2', '9007199254741000')).toMatchObject({ httpStatus: 409, answer: { code: 'USER_HAS_ONE' } });
  expect(await buy('r3', '9007199254741003', '{"quantity":2}')).toMatchObject({ httpStatus: 400, answer: { code: 'INVALID' } });
  expect(await gateway.query('r1', '9007199254741000')).toMatchObject({ httpStatus: 200, answer: { reservationId: first.answer.reservationId } });
  expect(await gateway.query('r9', '9007199254741000')).toMatchObject({ answer: { code: 'NOT_FOUND_YET' } });
});

it('asks for permits and places as the gateway over HTTP does, and counts them', async () => {
  const [config] = roleConfigs(plan, inject('stack'));
  if (config === undefined) throw new Error('no gateway');
  const funnel = funnelWith(['permit', 'unpaid-holds'], { unpaidHolds: { perUser: 1, perDevice: 1 } });
  const strict = await openInprocGateway({ ...config, tuning: { ...config.tuning, funnel } });
  try {
    const { activityId, skuId } = plan.load;
    const permit = (userId: string): string => encodePermit({ activityId, skuId, userId, expiresAtMs: Date.now() + 60_000, nonce: 'nonce-0001' }, (payload) => createHmac('sha256', funnel.permitSecret).update(payload).digest('base64url'));
    const body = '{"quantity":1}';
    expect(await strict.submit({ requestId: 'p1', userId: '11', body })).toMatchObject({ httpStatus: 403 });
    expect(await strict.submit({ requestId: 'p2', userId: '11', body, permit: permit('11'), deviceId: 'one' })).toMatchObject({ httpStatus: 202 });
    expect(await strict.submit({ requestId: 'p3', userId: '12', body, permit: permit('12'), deviceId: 'one' })).toMatchObject({ answer: { code: 'HOLD_LIMIT', reason: 'DEVICE' } });
    const text = await strict.metricsText();
    expect(text).toMatch(/seckill_gateway_funnel_total\{layer="permit",outcome="refused".*\} 1$/m);
    expect(text).toMatch(/seckill_gateway_funnel_total\{layer="unpaid-holds",outcome="refused".*\} 1$/m);
  } finally {
    await strict.close();
  }
});

it('sells exactly the stock to a storm, and every arrival has its answer', async () => {
  const { load } = plan;
  const arrivals = expandArrivalPlan(load);
  const recorder = new HistoryRecorder(arrivals.length);
  const tellings = { tell: () => undefined };
  const followUps = new FollowUps({ load, plan: arrivals, tellings, pollsPerSecondMax: 100 });
  const storm = new InprocStorm(gateway, { load, plan: arrivals, recorder, followUps, permits: NO_PERMITS, firstAnswers: new FirstAnswers({ load, plan: arrivals, recorder, tellings, followUps }) });
  expect(await storm.rehearse(100)).toBe(100);
  recorder.schedule(monoNowUs(), arrivals.dueUs);
  await new Promise<void>((resolve) => {
    const ticker = new Ticker((nowUs) => {
      storm.tick(nowUs);
      if (!storm.finished) return;
      ticker.stop();
      resolve();
    });
    ticker.start();
  });
  expect(recorder.answered).toBe(arrivals.length);
  // 202: a new reservation. The rehearsal has taken none.
  expect(recorder.columns.httpStatus.filter((status) => status === 202).length).toBe(STOCK);
});

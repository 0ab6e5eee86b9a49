/** The gateway in the generator's process, over real servers: it decides as the HTTP one does, and a storm through it leaves a complete history. */
import { afterEach, beforeEach, expect, inject, it } from 'vitest';

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

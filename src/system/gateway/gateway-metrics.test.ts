// What the gateway counts of its answers, and that a client cannot make series by inventing SKUs.
import { expect, test } from 'vitest';

import type { AnswerCode } from '../../domain/reason-codes.js';
import { createRoleMetrics } from '../role-metrics.js';
import type { GatewayAnswer } from './answers.js';
import { answerRecorder } from './gateway-metrics.js';

const metrics = createRoleMetrics('gateway', 'gateway-1');
const record = answerRecorder(metrics, { activityId: '7', skuIds: ['70'] });

function answer(code: AnswerCode, httpStatus: number): GatewayAnswer {
  return { httpStatus, location: null, answer: { code, requestId: 'r', reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: null } };
}

function told(code: AnswerCode, httpStatus: number, skuId = '70'): void {
  record.answered('submit', answer(code, httpStatus), performance.now(), skuId);
}

test('each answer is counted where the paper looks for it', async () => {
  told('QUEUED', 202);
  told('ORDERED', 200);
  told('SOLD_OUT', 410);
  told('FINAL_SOLD_OUT', 410);
  told('USER_HAS_ONE', 409);
  told('LIMITED', 429);
  told('NOT_FOUND', 404, '71');
  told('NOT_FOUND', 404, '72');
  const text = await metrics.text();
  const count = (name: string, sku = '70'): number => Number(new RegExp(`^${name}\\{activity_id="7",sku_id="${sku}"[^}]*\\} (.*)$`, 'm').exec(text)?.[1]);
  expect(count('seckill_requests_accepted_total')).toBe(1);
  expect(count('seckill_duplicate_request_total')).toBe(1);
  expect(count('seckill_sold_out_total')).toBe(2);
  expect(count('seckill_duplicate_user_total')).toBe(1);
  expect(count('seckill_rate_limited_total')).toBe(1);
  expect(count('seckill_requests_rejected_total')).toBe(4);
  expect(count('seckill_requests_rejected_total', 'other')).toBe(2);
  expect(text).not.toContain('sku_id="71"');
  expect(text).toMatch(/seckill_requests_total\{activity_id="7",sku_id="70",request="submit",result_code="QUEUED".*\} 1/);
});

test('a batch counts as many answers as it has, each where a single one would count', async () => {
  const own = createRoleMetrics('gateway', 'gateway-2');
  const recorder = answerRecorder(own, { activityId: '7', skuIds: ['70'] });
  const soldOut = Array.from({ length: 5 }, () => answer('SOLD_OUT', 410));
  recorder.batchAnswered({ answers: [answer('QUEUED', 202), ...soldOut.slice(3), answer('QUEUED', 202), answer('QUEUED', 200), answer('USER_HAS_ONE', 409)], alike: { answer: answer('SOLD_OUT', 410), count: 3 } }, performance.now(), '70');
  const text = await own.text();
  const count = (name: string): number => Number(new RegExp(`^${name}\\{activity_id="7",sku_id="70"[^}]*\\} (.*)$`, 'm').exec(text)?.[1]);
  expect(count('seckill_requests_accepted_total')).toBe(2);
  expect(count('seckill_duplicate_request_total')).toBe(1);
  expect(count('seckill_sold_out_total')).toBe(5);
  expect(count('seckill_duplicate_user_total')).toBe(1);
  expect(count('seckill_requests_rejected_total')).toBe(6);
  expect(text).toMatch(/seckill_request_duration_seconds_count\{[^}]*request="batch"[^}]*\} 1/);
});

// What the gateway counts of its answers, and that a client cannot make series by inventing SKUs.
import { expect, test } from 'vitest';

import type { AnswerCode } from '../../domain/reason-codes.js';
import { createRoleMetrics } from '../role-metrics.js';
import { answerRecorder } from './gateway-metrics.js';

const metrics = createRoleMetrics('gateway', 'gateway-1');
const record = answerRecorder(metrics, { activityId: '7', skuIds: ['70'] });

function told(code: AnswerCode, httpStatus: number, skuId = '70'): void {
  record('submit', { httpStatus, location: null, answer: { code, requestId: 'r', reservationId: null, orderId: null, reason: null, problems: [], retryAfterMs: null } }, performance.now(), skuId);
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

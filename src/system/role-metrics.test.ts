// The metrics recorder: series, labels and separate registries.
import { expect, test } from 'vitest';

import { createRoleMetrics } from './role-metrics.js';

test('one name with several label values is one metric with several series', async () => {
  const metrics = createRoleMetrics('scanner', 'scanner-1');
  metrics.counter('message_send_total', 'Sends', { outcome: 'sent' }).add();
  metrics.counter('message_send_total', 'Sends', { outcome: 'sent' }).add(2);
  metrics.counter('message_send_total', 'Sends', { outcome: 'unknown' }).add();
  metrics.gauge('reservation_pending_count', 'Pending').set(7);
  metrics.histogram('reservation_lua_duration', 'Lua').observe(0.02);

  const text = await metrics.text();
  expect(text).toContain('message_send_total{outcome="sent",role="scanner",instance="scanner-1"} 3');
  expect(text).toContain('message_send_total{outcome="unknown",role="scanner",instance="scanner-1"} 1');
  expect(text).toContain('reservation_pending_count{role="scanner",instance="scanner-1"} 7');
  expect(text).toContain('reservation_lua_duration_count{role="scanner",instance="scanner-1"} 1');
});

test('what has not happened yet is 0 and not missing; asking for a series again does not begin it anew', async () => {
  const metrics = createRoleMetrics('gateway', 'gateway-1');
  metrics.counter('seckill_rate_limited_total', 'Limited', { sku_id: '70' });
  metrics.histogram('order_create_duration', 'Orders', { outcome: 'done' });
  expect(await metrics.text()).toContain('seckill_rate_limited_total{sku_id="70",role="gateway",instance="gateway-1"} 0');
  expect(await metrics.text()).toMatch(/^order_create_duration_count\{.*outcome="done".*\} 0$/m);
  metrics.counter('seckill_rate_limited_total', 'Limited', { sku_id: '70' }).add(3);
  metrics.histogram('order_create_duration', 'Orders', { outcome: 'done' }).observe(1);
  metrics.counter('seckill_rate_limited_total', 'Limited', { sku_id: '70' });
  metrics.histogram('order_create_duration', 'Orders', { outcome: 'done' });
  expect(await metrics.text()).toContain('seckill_rate_limited_total{sku_id="70",role="gateway",instance="gateway-1"} 3');
  expect(await metrics.text()).toMatch(/^order_create_duration_count\{.*outcome="done".*\} 1$/m);
});

test('registries are separate', async () => {
  createRoleMetrics('gateway', 'gateway-1').counter('seckill_requests_total', 'Requests').add();
  expect(await createRoleMetrics('gateway', 'gateway-2').text()).not.toContain('seckill_requests_total{');
});

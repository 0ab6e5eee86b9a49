// Gauges from what the stores say: the conservation delta is 0 for right books and not for wrong ones; replication is read from INFO.
import { expect, test } from 'vitest';

import { createRoleMetrics } from '../role-metrics.js';
import type { StockPort } from '../stock/stock-port.js';
import { replicationOf, type StockFigures } from '../stock/stock-figures.js';
import { businessGauges, conservationDelta, type BusinessCounts } from './business-figures.js';
import { startRedisFigures } from './redis-figures.js';

const books: BusinessCounts = {
  orders: { 10: 3, 30: 2, 40: 4 }, tokens: { 0: 90, 10: 3, 20: 2, 30: 5 }, row_total: 100, row_available: 91, planned: 100, restocks: true, manual: 1,
  outbox: { 0: 7, 40: 1 }, outbox_oldest_seconds: 2.5, compensations_pending: 6, compensations_dead: 0, unmatched_payments: 2, unresolved_payments: 1,
};

test('the token allocator: every unit is there, and held units are those of live orders', () => {
  expect(conservationDelta(books, 'token')).toBe(0);
  expect(conservationDelta({ ...books, tokens: { ...books.tokens, 0: 89 } }, 'token')).toBe(1);
  expect(conservationDelta({ ...books, orders: { ...books.orders, 10: 4 } }, 'token')).toBe(-1);
});

test('the row allocator: what is allocated is held, or withdrawn where cancels do not restock', () => {
  expect(conservationDelta({ ...books, row_available: 95 }, 'row')).toBe(0);
  expect(conservationDelta({ ...books, restocks: false }, 'row')).toBe(0);
  expect(conservationDelta({ ...books, row_available: 94 }, 'row')).toBe(1);
});

test('the gauges of the paper show the counts', async () => {
  const metrics = createRoleMetrics('relay', 'relay-1');
  businessGauges(metrics, { strategies: { consumer: 'single', allocator: 'token' } })(books);
  const text = await metrics.text();
  for (const [name, value] of [
    ['postgres_order_created_count', 9], ['postgres_token_claimed_count', 3], ['postgres_token_sold_count', 2], ['compensation_pending_count', 6],
    ['inventory_conservation_delta', 0], ['reservation_manual_required', 1], ['outbox_oldest_age', 2.5],
  ] as const) expect(text).toMatch(new RegExp(`^${name}\\{role="relay",instance="relay-1"\\} ${String(value)}$`, 'm'));
  expect(text).toMatch(/outbox_event_count\{status="dead",.*\} 1/);
  expect(text).toMatch(/postgres_orders_count\{status="cancelled",.*\} 4/);
});

test('replication: the slowest replica that is online counts', () => {
  const info = 'role:master\r\nslave0:ip=a,port=1,state=online,offset=900,lag=0\r\nslave1:ip=a,port=2,state=online,offset=950,lag=1\r\nslave2:ip=a,port=3,state=wait_bgsave,offset=0,lag=0\r\nmaster_repl_offset:1000\r\n';
  expect(replicationOf(info)).toEqual({ replicas: 2, replicationLagBytes: 100 });
  expect(replicationOf('role:master\r\nmaster_repl_offset:5\r\n')).toEqual({ replicas: 0, replicationLagBytes: 0 });
});

test('another primary is counted, and an overdue entry is at least as old as the time it was given', async () => {
  const metrics = createRoleMetrics('projector', 'projector-1');
  const figures: StockFigures = { stock: -1, reserved: 5, pending: 2, overdueMs: 4_000, runId: 'a', replicas: 1, replicationLagBytes: 10 };
  const seen = [figures, { ...figures, runId: 'b' }];
  const stock = { figures: () => Promise.resolve(seen.shift() ?? null) } as unknown as StockPort;
  const config = { activityId: '7', skuIds: ['70'], tuning: { storeFiguresIntervalMs: 5, resendAfterMs: 1_000 } } as unknown as Parameters<typeof startRedisFigures>[1];
  const sampler = startRedisFigures(stock, config, metrics, { log: () => undefined } as unknown as Parameters<typeof startRedisFigures>[3]);
  await expect.poll(() => seen.length).toBe(0);
  await sampler.stop();
  const text = await metrics.text();
  expect(text).toMatch(/redis_failover_total\{.*\} 1/);
  expect(text).toMatch(/redis_stock_value\{activity_id="7",sku_id="70",.*\} -1/);
  expect(text).toMatch(/reservation_oldest_pending_age\{.*\} 5$/m);
});

/**
 * Shows Redis's figures in the projector. Not in the scanner, on purpose: what tells that reservations are left lying must not fall silent with
 * the role that would pick them up (paper `000` §13.4, "stop the scanner").
 */
import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings } from '../role.js';
import type { StockPort } from '../stock/stock-port.js';
import { startSampler, type Sampler } from './sampler.js';

/** A stock that cannot be asked for figures (a test's, or another kind) shows none. */
export function startRedisFigures(stock: StockPort, config: RoleConfig, metrics: RoleMetrics, surroundings: RoleSurroundings): Sampler {
  const { activityId, tuning } = config;
  const ask = stock.figures?.bind(stock);
  if (ask === undefined) return { stop: () => Promise.resolve() };
  const replicas = metrics.gauge('redis_replicas', 'Replicas connected to the primary');
  const lag = metrics.gauge('redis_replication_lag', 'Bytes that the slowest replica has not acknowledged: what a failover would lose; 0 without a replica');
  const failovers = metrics.counter('redis_failover_total', 'Times that another process answered as primary: a failover or a restart');
  let runId: string | null = null;
  const skus = config.skuIds.map((skuId) => {
    const labels = { activity_id: activityId, sku_id: skuId };
    return {
      sku: { activityId, skuId },
      stock: metrics.gauge('redis_stock_value', 'Units that can still be reserved in Redis', labels),
      reserved: metrics.gauge('redis_reserved_count', 'Requests ever accepted in Redis, refused and released ones included', labels),
      pending: metrics.gauge('reservation_pending_count', 'Reservations without a projected result', labels),
      oldest: metrics.gauge('reservation_oldest_pending_age', 'Seconds since the oldest reservation that is due for the scanner was made, at least', labels),
    };
  });

  async function sample(): Promise<void> {
    for (const { sku, ...gauges } of skus) {
      const figures = await ask?.(sku);
      if (figures == null) throw new Error('no answer');
      if (figures.stock !== null) gauges.stock.set(figures.stock);
      gauges.reserved.set(figures.reserved);
      gauges.pending.set(figures.pending);
      gauges.oldest.set(figures.overdueMs === 0 ? 0 : (figures.overdueMs + tuning.resendAfterMs) / 1_000);
      if (runId !== null && figures.runId !== runId) failovers.add();
      runId = figures.runId;
      replicas.set(figures.replicas);
      lag.set(figures.replicationLagBytes);
    }
  }

  return startSampler({ store: 'Redis', intervalMs: tuning.storeFiguresIntervalMs, sample, log: surroundings.log.bind(surroundings) });
}

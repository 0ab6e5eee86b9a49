/** Metrics of the reconciler, bound once. */
import type { SkuKey } from '../../domain/ids.js';
import { DIFFERENCE_KIND_NAMES, type DifferenceKind } from '../../domain/reconciliation.js';
import type { CounterRecorder, GaugeRecorder, RoleMetrics } from '../role-metrics.js';

export interface ReconcilerRecorders {
  /** Differences that two looks agreed on, as of the last pass. */
  differences(kind: DifferenceKind): GaugeRecorder;
  adjustments(outcome: string): CounterRecorder;
  readonly looks: CounterRecorder;
  readonly rebuilds: CounterRecorder;
  readonly leads: GaugeRecorder;
  heldBack(sku: SkuKey): GaugeRecorder;
  paused(sku: SkuKey): GaugeRecorder;
}

export function reconcilerRecorders(metrics: RoleMetrics): ReconcilerRecorders {
  const labels = ({ activityId, skuId }: SkuKey): Readonly<Record<string, string>> => ({ activity_id: activityId, sku_id: skuId });
  const differences = (kind: DifferenceKind): GaugeRecorder => metrics.gauge('reconciliation_differences', 'Differences between the ledgers that two looks agreed on', { kind });
  for (const kind of DIFFERENCE_KIND_NAMES) differences(kind).set(0);
  return {
    differences,
    adjustments: (outcome) => metrics.counter('reconciliation_adjustments_total', 'Repairs by how they ended', { outcome }),
    looks: metrics.counter('reconciliation_looks_total', 'Comparisons of the three ledgers'),
    rebuilds: metrics.counter('redis_rebuilds_total', 'Rebuilds of Redis from durable facts'),
    leads: metrics.gauge('reconciler_leads', '1: this instance holds the lease'),
    heldBack: (sku) => metrics.gauge('redis_held_back_units', 'Units that a rebuild has not let go yet', labels(sku)),
    paused: (sku) => metrics.gauge('redis_paused', '1: admission is paused until Redis is rebuilt', labels(sku)),
  };
}

/** Metrics of the scanner (paper `000` §12.2), bound once. */
import type { SkuKey } from '../../domain/ids.js';
import type { SendOutcome } from '../../domain/reason-codes.js';
import type { CounterRecorder, GaugeRecorder, RoleMetrics } from '../role-metrics.js';

export interface ScannerRecorders {
  pendingCount(sku: SkuKey): GaugeRecorder;
  /** Age of the oldest reservation claimed in the last pass; 0 when nothing was due. */
  oldestAgeSeconds(sku: SkuKey): GaugeRecorder;
  resent(outcome: SendOutcome): CounterRecorder;
  closed(outcome: 'closed' | 'already-there' | 'refused' | 'unavailable'): CounterRecorder;
  handedOver(outcome: 'handed-over' | 'already-there' | 'request-taken' | 'refused' | 'unavailable'): CounterRecorder;
  readonly projected: CounterRecorder;
  readonly orphans: CounterRecorder;
  /** In PostgreSQL now, whoever handed them over: 0 or somebody has to act. */
  readonly manualWaiting: GaugeRecorder;
  readonly manualOldestSeconds: GaugeRecorder;
  readonly leaseLost: CounterRecorder;
  /** Unix seconds. */
  readonly lastPass: GaugeRecorder;
}

const SEND_OUTCOMES: readonly SendOutcome[] = ['sent', 'surely-not-sent', 'unknown'];

export function scannerRecorders(metrics: RoleMetrics): ScannerRecorders {
  const resent = (outcome: SendOutcome): CounterRecorder => metrics.counter('reservation_retry_count', 'Messages sent again by the scanner', { outcome });
  for (const outcome of SEND_OUTCOMES) resent(outcome);
  const labels = ({ activityId, skuId }: SkuKey): Readonly<Record<string, string>> => ({ activity_id: activityId, sku_id: skuId });
  return {
    pendingCount: (sku) => metrics.gauge('reservation_pending_count', 'Reservations without a projected result', labels(sku)),
    oldestAgeSeconds: (sku) => metrics.gauge('reservation_oldest_pending_age', 'Seconds since the oldest reservation that is due for the scanner was made, at least', labels(sku)),
    resent,
    closed: (outcome) => metrics.counter('reservation_closed_total', 'Expired reservations closed in PostgreSQL', { outcome }),
    projected: metrics.counter('reservation_projected_by_scanner_total', 'Durable results that the scanner wrote back itself'),
    orphans: metrics.counter('reservation_orphan_total', 'Entries of the pending index without a readable record, each time seen'),
    handedOver: (outcome) => metrics.counter('reservation_handed_over_total', 'Reservations past their recovery deadline', { outcome }),
    manualWaiting: metrics.gauge('reservation_manual_required', 'Reservations that wait for a human'),
    manualOldestSeconds: metrics.gauge('reservation_oldest_manual_age_seconds', 'For how long the oldest of them has been waiting'),
    lastPass: metrics.gauge('seckill_scanner_last_pass_timestamp_seconds', 'When the scanner last ended a round over all SKUs with its stores there, Unix time'),
    leaseLost: metrics.counter('reservation_lease_lost_total', 'Pages left because their lease had run out'),
  };
}

/** The admission limit as a layer: one control per SKU, fed by the gauge once a control period. */
import type { AdmissionTuning } from '../../../domain/funnel.js';
import type { SkuKey } from '../../../domain/ids.js';
import type { RoleMetrics } from '../../role-metrics.js';
import { queueFull } from '../answers.js';
import { AdmissionControl, type AdmissionState } from './admission-control.js';
import type { DownstreamGauge } from './downstream-gauge.js';
import type { FunnelLayer } from './layer.js';

export interface AdmissionLimit extends FunnelLayer {
  stateOf(skuId: string): AdmissionState;
  close(): Promise<void>;
}

export interface AdmissionLimitOptions {
  readonly skus: readonly SkuKey[];
  readonly gauge: DownstreamGauge;
  readonly tuning: AdmissionTuning;
  readonly metrics: Pick<RoleMetrics, 'gauge'>;
  readonly nowMs?: () => number;
}

/** Starts to read at once; until the first reading nothing new passes. */
export function createAdmissionLimit({ skus, gauge, tuning, metrics, nowMs }: AdmissionLimitOptions): AdmissionLimit {
  const controls = new Map(skus.map((sku) => [sku.skuId, new AdmissionControl(tuning, nowMs)]));
  const age = metrics.gauge('seckill_admission_oldest_message_age_seconds', 'Age of the oldest unfinished order message, as the admission limit sees it');
  const rate = metrics.gauge('seckill_admission_consumer_rate', 'Order messages finished a second, as the admission limit counts on');
  const open = metrics.gauge('seckill_admission_open', '1 open, 0.5 narrowed, 0 closed');
  let reading = false;

  async function readAll(): Promise<void> {
    if (reading) return;
    reading = true;
    for (const sku of skus) {
      const control = controls.get(sku.skuId);
      if (control === undefined) continue;
      control.asking();
      control.observe(await gauge.read(sku));
      age.set((control.ageMs ?? 0) / 1_000);
      rate.set(control.ratePerSecond);
      open.set(control.state === 'open' ? 1 : control.state === 'narrowed' ? 0.5 : 0);
    }
    reading = false;
  }

  const timer = setInterval(() => void readAll(), tuning.periodMs);
  void readAll();

  return {
    name: 'admission-limit',
    stateOf: (skuId) => controls.get(skuId)?.state ?? 'closed',
    pass: ({ sku, requestId }) => (controls.get(sku.skuId)?.take() === true ? null : queueFull(requestId)),
    async close() {
      clearInterval(timer);
      await gauge.close();
    },
  };
}

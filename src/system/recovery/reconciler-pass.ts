/**
 * One comparison of the three ledgers and its repairs. What two looks agree on is written down in PostgreSQL first, then changed in Redis once under
 * that id, then settled; a crash in between is finished by the next pass with the same ids.
 */
import { encodeOrderMessage } from '../../domain/order-message.js';
import { AdjustmentStatus } from '../../domain/reconciliation.js';
import type { SkuKey } from '../../domain/ids.js';
import type { PlannedAdjustment, ReconciliationStore } from '../ledger/reconciliation-store.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import type { RoleSurroundings } from '../role.js';
import type { RedisMirror } from '../stock/mirror.js';
import { confirmed, findDifferences } from './reconciliation-diff.js';
import type { Look } from './reconciliation-ledgers.js';
import type { Difference } from './reconciliation-look.js';
import type { ReconcilerRecorders } from './reconciler-metrics.js';

export interface RepairTools {
  readonly mirror: RedisMirror;
  readonly store: ReconciliationStore;
  readonly producer: LogProducer;
  readonly ordersTopic: string;
  readonly surroundings: RoleSurroundings;
  readonly recorders: ReconcilerRecorders;
  /** Renews the lease; false: it is another's now, or nobody knows. */
  holdsLease(token: number): Promise<boolean>;
}

/** What one look found, to be held against the next. */
export interface Suspects {
  readonly lookedAtMs: number;
  readonly epoch: number;
  readonly differences: readonly Difference[];
}

export function suspectsOf(look: Look, graceMs: number): Suspects {
  return { lookedAtMs: look.redis.before.nowMs, epoch: look.redis.before.epoch, differences: findDifferences(look, graceMs) };
}

/** Differences that both looks show, at least a grace apart and of one epoch; else none. */
export function agreed(earlier: Suspects | null, later: Suspects, graceMs: number): readonly Difference[] {
  if (earlier?.epoch !== later.epoch || later.lookedAtMs - earlier.lookedAtMs < graceMs) return [];
  return confirmed(earlier.differences, later.differences);
}

/** One page of repairs is as much as one statement writes down. */
const PAGE_SIZE = 500;

export interface Repaired {
  /** Repairs that changed something. */
  readonly applied: number;
  /** The lease was lost: what is left is for its new holder. */
  readonly leaseLost: boolean;
}

/**
 * Makes the repairs. Stops at the first store that is away; the rest is found again. The lease is renewed before every page: looks may take longer than it lasts, and
 * without it nothing is written down.
 */
export async function repairAll(tools: RepairTools, sku: SkuKey, epoch: number, token: number, differences: readonly Difference[]): Promise<Repaired> {
  // First what takes units out of the stock: in between there may be too few on sale, never too many.
  const ordered = [...differences].sort((one, other) => deltaOf(one) - deltaOf(other));
  let applied = 0;
  for (let start = 0; start < ordered.length; start += PAGE_SIZE) {
    if (!(await tools.holdsLease(token))) return { applied, leaseLost: true };
    const page = ordered.slice(start, start + PAGE_SIZE);
    const planned = await tools.store.plan(sku, epoch, token, page);
    if (planned === null) return { applied, leaseLost: false };
    const done = await carryOut(tools, sku, planned);
    if (done === null) return { applied, leaseLost: false };
    applied += done;
  }
  return { applied, leaseLost: false };
}

/** Finishes what an earlier pass, or another reconciler, had planned. False: a store is away, and no look would be worth anything. */
export async function finishOpen(tools: RepairTools, sku: SkuKey): Promise<boolean> {
  const open = await tools.store.openAdjustments(sku);
  if (open === null) return false;
  return (await carryOut(tools, sku, open)) !== null;
}

async function carryOut(tools: RepairTools, sku: SkuKey, planned: readonly PlannedAdjustment[]): Promise<number | null> {
  let applied = 0;
  for (const adjustment of planned) {
    const outcome = await carryOutOne(tools, sku, adjustment);
    if (outcome === null) return null;
    await tools.surroundings.observer.reached('reconciler.after-adjust', [adjustment.subject]);
    const isApplied = outcome === 'applied' || outcome === 'already' || outcome === 'sent';
    tools.recorders.adjustments(outcome).add();
    tools.surroundings.log('warn', 'a difference between the ledgers was repaired', { kind: adjustment.kind, subject: adjustment.subject, outcome, adjustmentId: adjustment.adjustmentId });
    if ((await tools.store.settle(adjustment.adjustmentId, isApplied ? AdjustmentStatus.APPLIED : AdjustmentStatus.VOID, outcome)) === null) return null;
    if (isApplied) applied += 1;
  }
  return applied;
}

/** null: nobody knows, or not now; it stays open. */
async function carryOutOne(tools: RepairTools, sku: SkuKey, { adjustmentId, epoch, kind, repair }: PlannedAdjustment): Promise<string | null> {
  if (repair.act === 'resend') {
    const { message } = repair;
    const { outcome } = await tools.producer.send(tools.ordersTopic, { key: message.reservationId, value: encodeOrderMessage(message) });
    return outcome === 'sent' ? 'sent' : null;
  }
  const result = await tools.mirror.adjust(sku, { adjustmentId, epoch, kind, ...repair.change });
  if (result.outcome !== 'done' || result.value === 'paused') return null;
  return result.value;
}

function deltaOf({ repair }: Difference): number {
  return repair?.act === 'adjust' ? repair.change.stockDelta : 0;
}

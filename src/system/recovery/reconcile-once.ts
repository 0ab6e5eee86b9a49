/** One reconciliation from outside of the role, as an operator asks for it: two looks, the repairs if wanted, and what is left after them. */
import { setTimeout as delay } from 'node:timers/promises';

import type { SkuKey } from '../../domain/ids.js';
import { judgeMirror, type MirrorVerdict } from './rebuild-need.js';
import { takeLook, type LookTools } from './reconciler-look.js';
import { agreed, finishOpen, repairAll, suspectsOf, type RepairTools, type Suspects } from './reconciler-pass.js';
import type { Difference } from './reconciliation-look.js';

export interface Reconciled {
  /** What two looks agreed on before any repair. */
  readonly found: readonly Difference[];
  /** What they agree on afterwards; without repairs the same as `found`. */
  readonly left: readonly Difference[];
  readonly applied: number;
}

export type OnceOutcome =
  | { readonly outcome: 'looked'; readonly result: Reconciled }
  /** Another Redis than the one that is known, or none: there is nothing to compare, a reconciler has to rebuild it. */
  | { readonly outcome: 'needs-rebuild'; readonly mirror: MirrorVerdict }
  | { readonly outcome: 'store-away' }
  /** Repairs are made by the leader alone, and another leads. */
  | { readonly outcome: 'another-leads' }
  /** The lead was lost in the middle, after so many repairs. */
  | { readonly outcome: 'lease-lost'; readonly applied: number };

export interface OnceTools extends Omit<RepairTools, 'holdsLease'>, LookTools {
  readonly surroundings: RepairTools['surroundings'];
  /** How long the lease lasts; left out: a minute. It is renewed while the looks wait. */
  readonly leaseMs?: number;
}

const LEASE_MS = 60_000;
/** Two looks are a little more than the grace apart. */
const MARGIN_MS = 50;

export async function reconcileOnce(tools: OnceTools, sku: SkuKey, options: { readonly repair: boolean; readonly graceMs: number }): Promise<OnceOutcome> {
  const { mirror, store } = tools;
  const [state, known] = await Promise.all([mirror.state(sku), store.knownRedis(sku)]);
  if (state.outcome !== 'done' || known === null) return { outcome: 'store-away' };
  const judged = judgeMirror(state.value, known);
  if (judged.verdict === 'rebuild' || judged.verdict === 'not-warm') return { outcome: 'needs-rebuild', mirror: judged };
  if (!options.repair) {
    const found = await lookTwice(tools, sku, options.graceMs);
    return found === null ? { outcome: 'store-away' } : { outcome: 'looked', result: { found: found.differences, left: found.differences, applied: 0 } };
  }
  const leaseMs = tools.leaseMs ?? LEASE_MS;
  const token = await store.lease(leaseMs);
  if (token === null) return { outcome: 'store-away' };
  if (token === 0) return { outcome: 'another-leads' };
  try {
    return await repaired({ ...tools, leaseMs, holdsLease: async (held) => (await store.lease(leaseMs)) === held }, sku, token, options.graceMs);
  } finally {
    await store.freeLease();
  }
}

type LeadingTools = OnceTools & RepairTools & { readonly leaseMs: number };

async function repaired(tools: LeadingTools, sku: SkuKey, token: number, graceMs: number): Promise<OnceOutcome> {
  if (!(await finishOpen(tools, sku))) return { outcome: 'store-away' };
  const before = await lookTwice(tools, sku, graceMs, () => waitLeading(tools, token, graceMs + MARGIN_MS));
  if (before === null) return { outcome: 'store-away' };
  if (before.differences.length === 0) return { outcome: 'looked', result: { found: [], left: [], applied: 0 } };
  await tools.surroundings.observer.reached('reconciler.after-diff', before.differences.slice(0, 64).map(({ subject }) => subject));
  const { applied, leaseLost } = await repairAll(tools, sku, before.epoch, token, before.differences);
  if (leaseLost) return { outcome: 'lease-lost', applied };
  const after = await lookTwice(tools, sku, graceMs);
  return after === null ? { outcome: 'store-away' } : { outcome: 'looked', result: { found: before.differences, left: after.differences, applied } };
}

/** Nobody else leads, and repairs, in between: the lease is renewed well before its end. Whether it is still held is seen when it matters, before a repair. */
async function waitLeading(tools: LeadingTools, token: number, ms: number): Promise<void> {
  const untilMs = performance.now() + ms;
  for (let left = ms; left > 0; left = untilMs - performance.now()) {
    await delay(Math.min(left, tools.leaseMs / 3));
    await tools.holdsLease(token);
  }
}

async function lookTwice(tools: OnceTools, sku: SkuKey, graceMs: number, wait = () => delay(graceMs + MARGIN_MS)): Promise<{ readonly epoch: number; readonly differences: readonly Difference[] } | null> {
  let earlier: Suspects | null = null;
  for (const last of [false, true]) {
    const look = await takeLook(tools, sku);
    if (look === null) return null;
    const later = suspectsOf(look, graceMs);
    if (last || later.differences.length === 0) return { epoch: later.epoch, differences: agreed(earlier, later, graceMs) };
    earlier = later;
    await wait();
  }
  return null;
}

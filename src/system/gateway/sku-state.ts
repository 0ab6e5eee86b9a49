/**
 * The coarse state of a SKU for pages (paper `004` §7): from memory alone, made anew a few times a second at most, so that it costs the sale nothing however
 * often it is asked for.
 */
import type { SkuState } from '../../domain/answer.js';
import type { EntryState } from '../../domain/funnel.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { ActivityWindow } from './activity-window.js';
import type { GatewayFunnel } from './funnel/gateway-funnel.js';

/** Null: no such SKU here. */
export type SkuStates = (activityId: string, skuId: string) => SkuState | null;

const KEPT_MS = 100;

/** How long a page may show it: what cannot change soon for long, what hangs on a unit or a queue for a second. */
const VALID_FOR_MS: Readonly<Record<EntryState, number>> = {
  OPEN: 1_000, THROTTLED: 1_000, QUEUE_FULL: 1_000, TEMP_SOLD_OUT: 1_000, FINAL_SOLD_OUT: 60_000, PAUSED: 1_000, NOT_STARTED: 1_000, ENDED: 60_000,
};

export interface SkuStatesDependencies {
  readonly funnel: Pick<GatewayFunnel, 'entryState'>;
  readonly window: Pick<ActivityWindow, 'peek'>;
  readonly config: Pick<RoleConfig, 'activityId' | 'skuIds'>;
  readonly nowMs?: () => number;
}

export function createSkuStates({ funnel, window, config, nowMs = () => performance.now() }: SkuStatesDependencies): SkuStates {
  const kept = new Map<string, { readonly state: SkuState; readonly madeAtMs: number }>();

  function make(skuId: string): SkuState {
    const peeked = window.peek({ activityId: config.activityId, skuId });
    const state: EntryState =
      peeked === null || peeked.state.state === 'unavailable' ? 'PAUSED'
      : peeked.state.state === 'not-started' ? 'NOT_STARTED'
      : peeked.state.state === 'ended' ? 'ENDED'
      : funnel.entryState(skuId);
    return { state, activityVersion: peeked?.activityVersion ?? null, validForMs: VALID_FOR_MS[state] };
  }

  return (activityId, skuId) => {
    if (activityId !== config.activityId || !config.skuIds.includes(skuId)) return null;
    const now = nowMs();
    const last = kept.get(skuId);
    if (last !== undefined && now - last.madeAtMs < KEPT_MS) return last.state;
    const state = make(skuId);
    kept.set(skuId, { state, madeAtMs: now });
    return state;
  };
}

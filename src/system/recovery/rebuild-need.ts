/** Whether the Redis that answers is the one that is known, by what it says of itself and what PostgreSQL remembers. Pure. */
import type { KnownRedis } from '../ledger/reconciliation-store.js';
import type { MirrorState } from '../stock/mirror.js';

export type RebuildCause = 'other-server' | 'older-epoch' | 'lost' | 'unfinished-rebuild' | 'foreign-warm-up';

export type MirrorVerdict =
  | { readonly verdict: 'known' }
  /** Rebuilt, and part of its stock is still held back. */
  | { readonly verdict: 'reopening' }
  /** Warmed up, and nobody knew it before. */
  | { readonly verdict: 'new' }
  /** Nothing has been warmed up anywhere yet. */
  | { readonly verdict: 'not-warm' }
  | { readonly verdict: 'rebuild'; readonly cause: RebuildCause };

export function judgeMirror(state: MirrorState, known: KnownRedis | 'none'): MirrorVerdict {
  const rebuild = (cause: RebuildCause): MirrorVerdict => ({ verdict: 'rebuild', cause });
  if (state.status === 'paused') return rebuild('unfinished-rebuild');
  if (state.runId === null) return known === 'none' ? { verdict: 'not-warm' } : rebuild('lost');
  if (state.runId !== state.serverRunId) return rebuild('other-server');
  if (!state.hasStock) return rebuild('lost');
  if (known === 'none' || state.epoch > known.epoch) return { verdict: 'new' };
  if (state.epoch < known.epoch) return rebuild('older-epoch');
  // The same epoch, well warmed, by another server: somebody opened an empty Redis with the whole stock.
  if (state.runId !== known.runId) return rebuild('foreign-warm-up');
  return { verdict: state.heldBack > 0 ? 'reopening' : 'known' };
}

/**
 * A Redis that has come back, or another one in its place, is nobody's until somebody has built it anew. Looks at it until the mark that it bears is its own again:
 * up to the last look that saw a stranger's nothing may have been reserved on it.
 */
import type { FaultSurroundings } from './fault.js';

/** A rebuild waits for what is under way. */
const REBUILD_BOUND_MS = 30_000;
const LOOK_MS = 50;

export interface RebuildWatch {
  /** When a look that still saw the mark of another server began; null: none did. */
  readonly strangeUs: number | null;
  /** The mark was seen to be the server's own. */
  readonly rebuilt: boolean;
}

/** Resolves when it is rebuilt, or after a bound; after one look where no reconciler runs. Never rejects. */
export async function watchRebuild({ targets, clock }: Pick<FaultSurroundings, 'targets' | 'clock'>): Promise<RebuildWatch> {
  const isWorthWaiting = targets.roles('reconciler').length > 0;
  const deadlineUs = clock.monoUs() + REBUILD_BOUND_MS * 1000;
  let strangeUs: number | null = null;
  for (;;) {
    const lookedUs = clock.monoUs();
    const mark = await targets.tampering.mirrorMark().catch(() => null);
    if (mark?.isOwn === true) return { strangeUs, rebuilt: true };
    if (mark !== null) strangeUs = lookedUs;
    if (!isWorthWaiting || clock.monoUs() >= deadlineUs) return { strangeUs, rebuilt: false };
    await clock.wait(LOOK_MS);
  }
}

/** `, and rebuilt 2.41 s after the kill`. */
export function rebuildInWords({ strangeUs, rebuilt }: RebuildWatch, killedUs: number): string {
  const since = strangeUs === null ? '' : `another server's mark on it until ${((strangeUs - killedUs) / 1_000_000).toFixed(2)} s after the kill`;
  return `; ${since === '' ? 'nobody saw another server\'s mark on it' : since}${rebuilt ? ', then its own' : ', and never its own while somebody looked'}`;
}

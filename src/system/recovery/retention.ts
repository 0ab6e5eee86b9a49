/**
 * Role `retention`: deletes Inbox rows that no replay can reach any more and moves events that were sent and callbacks that came long ago into their archives, in
 * pages, so that no table grows without end and no statement holds many locks.
 *
 * Where the topics are kept for ever (`logRetentionMs` null) every message can come again for ever, and so no Inbox row is deleted.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { RoleConfig } from '../../domain/role-config.js';
import { describeFailure, isBug } from '../ledger/postgres-failure.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import { retentionProblems } from './retention-limits.js';
import type { RetentionStore } from './retention-store.js';

export interface RetentionDependencies {
  readonly store: RetentionStore;
  readonly metrics: RoleMetrics;
}

/** Some ten milliseconds of work each. */
const PAGE_SIZE = 1_000;

/** Rejects when the settings would delete what is still needed. Takes ownership of its dependencies and closes them. */
export async function startRetention({ store, metrics }: RetentionDependencies, config: Pick<RoleConfig, 'tuning'>, surroundings: RoleSurroundings): Promise<RunningRole> {
  const { tuning } = config;
  const problems = retentionProblems(tuning);
  if (problems.length > 0) {
    await store.close();
    throw new Error(`retention would delete what is still needed: ${problems.join('; ')}`);
  }
  if (tuning.logRetentionMs === null) surroundings.log('info', 'the topics are kept for ever, and so is the Inbox');
  const deleted = metrics.counter('inbox_deleted_total', 'Inbox rows deleted because no replay can reach them');
  const archived = metrics.counter('outbox_archived_total', 'Sent events moved to the archive');
  const archivedCallbacks = metrics.counter('callbacks_archived_total', 'Callbacks of the payment channel moved to the archive');
  const stopping = new AbortController();

  async function all(page: () => Promise<number>, counted: typeof deleted): Promise<void> {
    for (let count = PAGE_SIZE; count === PAGE_SIZE && !stopping.signal.aborted; ) {
      count = await page();
      if (count === 0) return;
      counted.add(count);
      await surroundings.observer.reached('retention.after-delete', []);
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (tuning.logRetentionMs !== null) await all(() => store.deleteInbox(tuning.inboxRetentionMs, PAGE_SIZE), deleted);
        await all(() => store.archiveOutbox(tuning.outboxArchiveAfterMs, PAGE_SIZE), archived);
        await all(() => store.archiveCallbacks(tuning.callbackArchiveAfterMs, PAGE_SIZE), archivedCallbacks);
      } catch (error) {
        if (isBug(error)) throw error;
        surroundings.log('warn', 'retention round failed', { error: describeFailure(error) });
      }
      await delay(tuning.retentionIntervalMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const running = loop();
  const fatal = new Promise<Error>((resolve) => {
    running.catch((error: unknown) => { resolve(error instanceof Error ? error : new Error(String(error))); });
  });
  return {
    fatal,
    health: async () => ((await store.ready()) ? [] : ['PostgreSQL does not answer']),
    async stop() {
      stopping.abort();
      await running.catch(() => undefined);
      await store.close();
    },
  };
}

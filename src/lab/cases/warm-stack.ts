/**
 * One stack for many small runs: started once with several lanes, each with its own proxies and Kafka listeners, so that cases run side by side and a
 * fault on a link of one lane is none of the others'.
 */
import type { ServerName } from '../../facts/stack-description.js';
import { startLocalStack } from '../../stack/local/start-local-stack.js';
import type { RunningStack } from '../../stack/running-stack.js';
import { createWorkerPool, type WorkerPool } from './lane-workers.js';

export interface WarmStack {
  readonly handle: RunningStack;
  readonly lanes: number;
  /** null: each case starts processes of its own. */
  readonly workers: WorkerPool | null;
  /** Told when a server dies that no fault killed: every case that runs is over then. Returns how to stop listening. */
  onServerDeath(listen: (server: ServerName, lastLogLines: readonly string[]) => void): () => void;
  /** Ends the servers and all that was registered with them. Idempotent. */
  stop(): Promise<void>;
}

export interface WarmStackOptions {
  /** 1 to 10. */
  readonly lanes: number;
  readonly signal: AbortSignal;
  /** Existing folder for the logs of warm processes, which serve one case after another. Left out: each case starts processes of its own. */
  readonly logDirectory?: string;
  onNote(text: string): void;
}

/** Rejects with LabError as `startLocalStack` does; nothing is left then. */
export async function openWarmStack(options: WarmStackOptions): Promise<WarmStack> {
  const listeners = new Set<(server: ServerName, lastLogLines: readonly string[]) => void>();
  const handle = await startLocalStack({
    lanes: options.lanes,
    signal: options.signal,
    onNote: (text) => {
      options.onNote(text);
    },
    onServerDeath: (server, lastLogLines) => {
      options.onNote(`${server} died, and no fault had killed it`);
      for (const listen of listeners) listen(server, lastLogLines);
    },
  });
  const registerPid = (pid: number): void => {
    handle.registerPid(pid).catch((cause: unknown) => {
      options.onNote(`process ${String(pid)} could not be registered for clean-up: ${cause instanceof Error ? cause.message : String(cause)}`);
    });
  };
  const workers = options.logDirectory === undefined ? null : createWorkerPool({ logDirectory: options.logDirectory, lanes: options.lanes, registerPid });
  return {
    handle,
    workers,
    lanes: options.lanes,
    onServerDeath(listen) {
      listeners.add(listen);
      return () => {
        listeners.delete(listen);
      };
    },
    async stop() {
      await workers?.stop();
      await handle.stop();
    },
  };
}

/**
 * One stack for many small runs: started once with several lanes, each with its own proxies and Kafka listeners, so that cases run side by side and a
 * fault on a link of one lane is none of the others'.
 */
import { startLocalStack } from '../../stack/local/start-local-stack.js';
import type { RunningStack } from '../../stack/running-stack.js';
import type { ServerName } from '../../facts/stack-description.js';

export interface WarmStack {
  readonly handle: RunningStack;
  readonly lanes: number;
  /** Told when a server dies that no fault killed: every case that runs is over then. Returns how to stop listening. */
  onServerDeath(listen: (server: ServerName, lastLogLines: readonly string[]) => void): () => void;
  /** Ends the servers and all that was registered with them. Idempotent. */
  stop(): Promise<void>;
}

/** Rejects with LabError as `startLocalStack` does; nothing is left then. `lanes`: 1 to 10. */
export async function openWarmStack(options: { readonly lanes: number; readonly signal: AbortSignal; onNote(text: string): void }): Promise<WarmStack> {
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
  return {
    handle,
    lanes: options.lanes,
    onServerDeath(listen) {
      listeners.add(listen);
      return () => {
        listeners.delete(listen);
      };
    },
    stop: () => handle.stop(),
  };
}

/** Ctrl-C once: abort, heal, tear down, exit 105. A second one takes Node's default and leaves the rest to the reaper. */
import { abortError } from '../lab/abort.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Returns how to stop listening. The listener stays after the first signal: a package of testcontainers ends the process at a signal to which nobody
 * else listens, and one that listens once has gone by then.
 */
export function listenForAbort(abort: AbortController): () => void {
  let isFirst = true;
  const stop = (): void => {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isFirst) {
      isFirst = false;
      abort.abort(abortError());
      return;
    }
    stop();
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return stop;
}

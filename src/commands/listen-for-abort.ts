/** Ctrl-C once: abort, heal, tear down, exit 105. A second one takes Node's default and leaves the rest to the reaper. */
import { abortError } from '../lab/abort.js';

/** Returns how to stop listening. */
export function listenForAbort(abort: AbortController): () => void {
  const onSignal = (): void => {
    abort.abort(abortError());
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.once(signal, onSignal);
  return () => {
    for (const signal of signals) process.removeListener(signal, onSignal);
  };
}

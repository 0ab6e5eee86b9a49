/**
 * Keeps Ink's signal handler from ending the process on the first Ctrl-C.
 *
 * Ink registers `signal-exit`, which kills the process on a signal when its own listener is the only one left. The lab listens with `once`, so
 * its listener is gone by then, and the run died before a fault was healed. A listener of ours stays through the first signal and steps aside for
 * the second, which then ends the process as the lab intends.
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Call before Ink renders, so that this listener runs before Ink's. The result lets go. */
export function holdFirstSignal(): () => void {
  const heard = new Set<string>();
  const hold = (signal: NodeJS.Signals): void => {
    if (heard.has(signal)) process.removeListener(signal, hold);
    heard.add(signal);
  };
  for (const signal of SIGNALS) process.on(signal, hold);
  return () => {
    for (const signal of SIGNALS) process.removeListener(signal, hold);
  };
}

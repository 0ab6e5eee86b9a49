/** Ctrl-C as a promise: every wait of a run races with it, then heals and tears down as usual (exit 105). */
import { LabError } from '../facts/lab-error.js';

export function abortError(): LabError {
  return new LabError('ABORTED', 'aborted by the user; faults healed, stack torn down', 'run the same command again when you are ready');
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal);
}

/** The signal may carry why it was raised (a server died); without a reason it was the user. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof LabError ? signal.reason : abortError();
}

/** `work`, or the abort, whichever comes first. `work` goes on in the background; its late rejection is swallowed. */
export async function orAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  // Before anything else: the caller has already started it, and an abort that came first must not leave its rejection to nobody.
  work.catch(() => undefined);
  throwIfAborted(signal);
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(reasonOf(signal));
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

/** Asks `holds` every `everyMs` until it is true; false at the end of `boundMs`. */
export async function waitUntil(signal: AbortSignal, boundMs: number, everyMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + boundMs;
  for (;;) {
    if (await orAborted(signal, holds())) return true;
    if (Date.now() >= deadline) return false;
    await orAborted(signal, new Promise<void>((resolve) => setTimeout(resolve, everyMs)));
  }
}

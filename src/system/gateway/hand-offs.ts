/**
 * Hand-offs of reservations to the broker that may begin later. In the first moment of a sale whoever has no answer from Redis yet goes before whoever has his unit: making and sending a message
 * costs the thread of the requests as much as reserving does, and the reservation is safe from the moment of its record (the scanner would send it).
 */

/** Begins one hand-off; what it came to. Never rejects but for a bug. */
type Begin = () => Promise<boolean>;

export interface HandOffs {
  /** What the hand-off came to, when it has been begun. Rejects as it does. */
  of(begin: Begin): Promise<boolean>;
  /** Begins all that wait, now. */
  flush(): void;
}

interface Waiting {
  readonly begin: Begin;
  readonly resolve: (outcome: Promise<boolean>) => void;
}

/** Of a turn of the event loop, for those that have waited: some hundred hand-offs. */
const MEASURE_MS = 4;

/** `lingerMs`: hand-offs begin this long after the first of them; 0: at once. */
export function createHandOffs(lingerMs: number, nowMs: () => number = () => performance.now()): HandOffs {
  if (lingerMs === 0) return { of: (begin) => begin(), flush: () => undefined };
  let line: Waiting[] = [];
  let next = 0;

  function beginUntil(endsAtMs: number): void {
    while (next < line.length && nowMs() < endsAtMs) {
      const waiting = line[next];
      next += 1;
      waiting?.resolve(waiting.begin());
    }
    if (next < line.length) {
      setImmediate(serve);
      return;
    }
    line = [];
    next = 0;
  }

  function serve(): void {
    beginUntil(nowMs() + MEASURE_MS);
  }

  return {
    of: (begin) =>
      new Promise((resolve) => {
        if (line.length === 0) setTimeout(serve, lingerMs);
        line.push({ begin, resolve });
      }),
    flush: () => { beginUntil(Infinity); },
  };
}

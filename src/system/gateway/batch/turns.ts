/**
 * How long batches are decided in one turn of the event loop. Without a bound a busy edge fills a turn with everything that its connections carry, a hundred
 * thousand items, and the answers of Redis wait behind them until their deadline is over: from then on nothing is sold and nothing gets better. A bound by size is too much while
 * items go on to Redis and too little while they are refused: the answers of Redis made turns of 40 ms, in each of which a thousand of twelve thousand arrivals were told that the
 * line is full, for nearly nothing.
 */

export interface Turns {
  /** Resolves when this batch may be decided; in the order of the calls. */
  enter(): Promise<void>;
}

/** Some thousands of items that are refused from memory, more than arrive meanwhile; and a small part of the patience of a winner. */
const MEASURE_MS = 8;

export function createTurns(measureMs = MEASURE_MS, nowMs: () => number = () => performance.now()): Turns {
  const line: (() => void)[] = [];
  let endsAtMs = 0;
  let scheduled = false;

  function begin(): void {
    endsAtMs = nowMs() + measureMs;
    scheduled = true;
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    scheduled = false;
    if (line.length === 0) return;
    begin();
    serve();
  }

  /** One after the other: the time of each is known when what it resolves has run. */
  function serve(): void {
    line.shift()?.();
    if (line.length > 0) {
      queueMicrotask(() => {
        if (nowMs() < endsAtMs) serve();
      });
    }
  }

  return {
    enter() {
      if (!scheduled) begin();
      if (line.length === 0 && nowMs() < endsAtMs) return Promise.resolve();
      return new Promise((enter) => {
        line.push(enter);
      });
    },
  };
}

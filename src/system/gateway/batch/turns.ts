/**
 * How much of all batches is decided in one turn of the event loop. Without a bound a busy edge fills a turn with everything that its connections carry, a hundred
 * thousand items, and the answers of Redis wait behind them until their deadline is over: from then on nothing is sold and nothing gets better.
 */

export interface Turns {
  /** Resolves when this batch may be decided; in the order of the calls. `bytes`: its size, which is what it costs. */
  enter(bytes: number): Promise<void>;
}

/** About a thousand items: a millisecond when they are refused from memory, a quarter of the patience of a winner when they all go on to Redis. */
const BYTES_PER_TURN = 65_536;

export function createTurns(bytesPerTurn = BYTES_PER_TURN): Turns {
  const line: { readonly bytes: number; readonly enter: () => void }[] = [];
  let left = bytesPerTurn;
  let scheduled = false;

  function nextTurn(): void {
    scheduled = false;
    left = bytesPerTurn;
    while (left > 0) {
      const first = line.shift();
      if (first === undefined) break;
      left -= first.bytes;
      first.enter();
    }
    if (left < bytesPerTurn) schedule();
  }

  /** The turn after one that decided something begins with a full measure again. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(nextTurn);
  }

  return {
    enter(bytes) {
      schedule();
      if (left > 0 && line.length === 0) {
        left -= bytes;
        return Promise.resolve();
      }
      return new Promise((enter) => {
        line.push({ bytes, enter });
      });
    },
  };
}

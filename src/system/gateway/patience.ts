/**
 * How long an answer waits for the broker. Under a storm the hand-off queues behind everything else, and the winners would be those who wait longest; what is true of them
 * from the reservation on (it is theirs, and the message is on its way or the scanner will send it) can be said before.
 */

export interface Patience {
  /** What the hand-off came to, or false when that takes longer than the patience, counted from `sinceMs` (monotonic). Rejects as the hand-off does, while it is waited for. */
  of(handOff: Promise<boolean>, sinceMs: number): Promise<boolean>;
}

interface Waiting {
  readonly untilMs: number;
  giveUp: (() => void) | null;
}

/** After this many the front of the line is cut off, so that a line that never empties does not grow. */
const COMPACT_AFTER = 4_096;

/** One timer for all who wait: their patience is the same, so they run out of it in the order in which they came. */
export function createPatience(patienceMs: number | null, nowMs: () => number = () => performance.now()): Patience {
  if (patienceMs === null) return { of: (handOff) => handOff };
  let line: Waiting[] = [];
  let head = 0;
  let timer: NodeJS.Timeout | null = null;

  function giveUpOnTheLate(): void {
    timer = null;
    const now = nowMs();
    for (; head < line.length; head += 1) {
      const first = line[head];
      if (first?.giveUp == null) continue;
      if (first.untilMs > now) break;
      first.giveUp();
    }
    if (head === line.length || head > COMPACT_AFTER) {
      line = line.slice(head);
      head = 0;
    }
    arm();
  }

  function arm(): void {
    const first = line[head];
    if (timer === null && first !== undefined) timer = setTimeout(giveUpOnTheLate, Math.max(1, Math.ceil(first.untilMs - nowMs())));
  }

  return {
    of(handOff, sinceMs) {
      return new Promise((resolve, reject) => {
        const waiting: Waiting = { untilMs: sinceMs + patienceMs, giveUp: () => { resolve(false); } };
        line.push(waiting);
        arm();
        handOff.then(
          (confirmed) => {
            waiting.giveUp = null;
            resolve(confirmed);
          },
          (error: unknown) => {
            waiting.giveUp = null;
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        );
      });
    },
  };
}

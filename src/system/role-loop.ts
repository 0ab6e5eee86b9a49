/** A role's work by the clock: one pass after the other, at once where there is more, else after a wait that a stop can cut short. */

export interface LoopOptions {
  /** True: there may be more, go on at once. What rejects is a bug, and ends the loop. */
  readonly pass: () => Promise<boolean>;
  readonly intervalMs: number;
}

export interface RunningLoop {
  /** Resolves with what a pass rejected with. */
  readonly fatal: Promise<Error>;
  /** Waits for the pass in hand. */
  stop(): Promise<void>;
}

export function runLoop({ pass, intervalMs }: LoopOptions): RunningLoop {
  let stopping = false;
  let wake: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const fatal = new Promise<Error>((resolve) => (fail = resolve));
  const isStopping = (): boolean => stopping;

  const pause = (): Promise<void> => new Promise((resolve) => {
    const timer = setTimeout(resolve, intervalMs);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });

  async function run(): Promise<void> {
    while (!isStopping()) if (!(await pass()) && !isStopping()) await pause();
  }

  // A loop with a bug must not go silent.
  const running = run().catch((error: unknown) => {
    fail(error instanceof Error ? error : new Error(String(error)));
  });
  return {
    fatal,
    async stop() {
      stopping = true;
      wake();
      await running;
    },
  };
}

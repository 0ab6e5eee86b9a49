/**
 * Undoes what a run set up, last thing first, whatever happened. Every step runs even when an earlier one failed; failures are returned
 * and not thrown, so that a failing clean-up never hides why the run ended.
 */
export interface Teardown {
  /** Registers the undoing of something that was just done. */
  push(what: string, undo: () => Promise<void>): void;
  /** Runs all that is registered and not yet run. Each step has `stepTimeoutMs`; what the reaper owns dies with the lab anyway. */
  run(): Promise<readonly TeardownProblem[]>;
}

export interface TeardownProblem {
  readonly what: string;
  readonly cause: unknown;
}

async function withTimeout(work: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`not done within ${String(timeoutMs)} ms`));
    }, timeoutMs);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function createTeardown(stepTimeoutMs = 30_000): Teardown {
  const steps: { what: string; undo: () => Promise<void> }[] = [];
  return {
    push(what, undo) {
      steps.push({ what, undo });
    },
    async run() {
      const problems: TeardownProblem[] = [];
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        try {
          await withTimeout(step.undo(), stepTimeoutMs);
        } catch (cause) {
          problems.push({ what: step.what, cause });
        }
      }
      return problems;
    },
  };
}

// Starts one local stack for all integration tests of a run and hands its description to them: `inject('stack')`.
import type { TestProject } from 'vitest/node';

import type { StackDescription } from '../../src/facts/stack-description.js';
import { startLocalStack } from '../../src/stack/local/start-local-stack.js';

declare module 'vitest' {
  interface ProvidedContext {
    stack: StackDescription;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stack = await startLocalStack({ lanes: 2, onNote: () => undefined });
  project.provide('stack', stack.description);
  return () => stack.stop();
}

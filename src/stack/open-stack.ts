/** Takes a stack in hand that runs already, with its provider's own means, or ends what is left of one. */
import { LabError } from '../facts/lab-error.js';
import type { StackDescription } from '../facts/stack-description.js';
import { openLocalStack } from './local/open-local-stack.js';
import { sweepWithoutReaper } from './local/sweep-without-reaper.js';
import type { OpenOptions, RunningStack } from './running-stack.js';

/** LabError STACK_GONE when it is not running any more, STACK_FILE_INVALID when no provider of this lab can open it. */
export async function openStack(description: StackDescription, options: OpenOptions = {}): Promise<RunningStack> {
  switch (description.provider) {
    case 'local':
      return openLocalStack(description, options);
    case 'containers': {
      const { openContainerStack } = await import('./containers/open-container-stack.js');
      return openContainerStack(description, options);
    }
    case 'external':
      throw new LabError('STACK_FILE_INVALID', `a stack of provider ${description.provider} cannot be opened here`, 'start one with `npx seckill-lab up`');
  }
}

/** Ends what is left of a stack whose reaper is gone; resolves with what could not be ended, in words. */
export async function sweepStack(description: StackDescription): Promise<readonly string[]> {
  const problems = await sweepWithoutReaper(description);
  if (description.provider !== 'containers') return problems;
  const [{ reachEngine }, { removeStack }] = await Promise.all([import('./containers/engine.js'), import('./containers/sweep-engine.js')]);
  const { docker } = await reachEngine();
  return [...problems, ...(await removeStack(docker, description.id, true)).problems];
}

/** Takes a stack in hand that runs already, with its provider's own means. */
import { LabError } from '../facts/lab-error.js';
import type { StackDescription } from '../facts/stack-description.js';
import { openLocalStack } from './local/open-local-stack.js';
import type { OpenOptions, RunningStack } from './running-stack.js';

/** LabError STACK_GONE when it is not running any more, STACK_FILE_INVALID when no provider of this lab can open it. */
export async function openStack(description: StackDescription, options: OpenOptions = {}): Promise<RunningStack> {
  switch (description.provider) {
    case 'local':
      return openLocalStack(description, options);
    default:
      throw new LabError('STACK_FILE_INVALID', `a stack of provider ${description.provider} cannot be opened here`, 'start one with `npx seckill-lab up`');
  }
}

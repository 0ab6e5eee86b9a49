/** Starts a stack by the provider that is asked for. testcontainers is loaded only when containers are wanted: it costs half a second. */
import { LabError } from '../facts/lab-error.js';
import { startLocalStack } from './local/start-local-stack.js';
import type { RunningStack, StartOptions } from './running-stack.js';
import type { ImageWishes } from './containers/image-choice.js';

export const STACK_PROVIDERS = ['local', 'containers', 'auto'] as const;
export type StackProvider = (typeof STACK_PROVIDERS)[number];

export interface StackRequest {
  /** auto: containers where an engine answers and the images are there or can be had, else local. With images of one's own wish it is containers or nothing. */
  readonly provider: StackProvider;
  readonly images: ImageWishes;
}

export const LOCAL_STACK: StackRequest = { provider: 'local', images: {} };

/** In words; null: containers do as well. */
export function whatOnlyLocalHas({ smallKafkaDisk, serverFiles }: Pick<StartOptions, 'smallKafkaDisk' | 'serverFiles'>): string | null {
  if (smallKafkaDisk === true) return 'a small disk under Kafka';
  return serverFiles === true ? 'their data and logs as files that a fault can touch' : null;
}

/** LabError USAGE when it is wanted. */
export function refuseInContainers(wanted: string | null): void {
  if (wanted !== null) throw new LabError('USAGE', `a fault of this run needs servers with ${wanted}, which servers in containers do not have`, 'use --stack local, or leave out the fault');
}

/** Rejects with a LabError and leaves nothing behind. */
export async function startStack(request: StackRequest, options: StartOptions): Promise<RunningStack> {
  const wanted = whatOnlyLocalHas(options);
  if (request.provider === 'containers') refuseInContainers(wanted);
  if (request.provider === 'auto' && wanted !== null) options.onNote(`local servers, since only they have ${wanted}`);
  if (request.provider === 'local' || wanted !== null) return startLocalStack(options);
  const { startContainerStack } = await import('./containers/start-container-stack.js');
  try {
    return await startContainerStack(options, request.images);
  } catch (error) {
    // Only what was missing before anything started: a stack that breaks while it starts is no reason to look elsewhere. Nor is an image that was asked for by name: `local` cannot run it.
    const isChoice = request.provider === 'auto' && Object.keys(request.images).length === 0;
    if (!isChoice || !(error instanceof LabError) || error.code !== 'MISSING_DEPENDENCY') throw error;
    options.onNote(`local servers, since ${error.message}`);
    return startLocalStack(options);
  }
}

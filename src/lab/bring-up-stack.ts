/** Step 2: a stack of one's own, the running one that a file describes, or a lane of one that the lab holds for many runs. */
import type { LabEventListener } from '../facts/lab-event.js';
import { LabError } from '../facts/lab-error.js';
import type { StackNeed } from '../faults/fault.js';
import type { StackDescription } from '../facts/stack-description.js';
import { openStack } from '../stack/open-stack.js';
import { refuseInContainers, startStack, whatOnlyLocalHas, type StackRequest } from '../stack/start-stack.js';
import type { RunningStack } from '../stack/running-stack.js';
import type { LaneWorkers } from './cases/lane-workers.js';
import { monoUs } from './host-clock.js';
import type { Teardown } from './teardown.js';

export type StackSource =
  /** `onKept` is told of the stack that was left running on purpose. */
  | { readonly kind: 'start'; readonly request: StackRequest; readonly onKept: ((stack: StackDescription) => Promise<void>) | null }
  | { readonly kind: 'described'; readonly description: StackDescription }
  /** Whoever lends it ends it, and aborts the run when a server of it dies. */
  | { readonly kind: 'lent'; readonly handle: RunningStack; readonly lane: number; readonly workers: LaneWorkers | null };

export interface UsableStack {
  readonly handle: RunningStack;
  /** As it is now: a failover moves the direct address of Redis. */
  readonly description: StackDescription;
  /** The run's own proxies, listeners and ports. */
  readonly lane: number;
  /** Warm processes for roles and generator; null: the run starts its own. */
  readonly workers: LaneWorkers | null;
  /** Others use it too and it goes on after the run. */
  readonly isShared: boolean;
  /** Puts a process under the care of the reaper; a failure is told and does not end the run. */
  registerPid(pid: number, who: string): void;
}

/** @param needs what a stack of one's own is started with; a running one has it or has not. */
export async function bringUpStack(source: StackSource, abort: AbortController, emit: LabEventListener, teardown: Teardown, needs: readonly StackNeed[] = []): Promise<UsableStack> {
  const note = (text: string): void => {
    emit({ kind: 'note', text, atUs: monoUs() });
  };
  const onServerDeath = (server: string, lastLogLines: readonly string[]): void => {
    abort.abort(new LabError('SERVER_DIED', `${server} died during the run, and no fault had killed it`, 'read its last lines below; `seckill-lab doctor` checks the machine', { details: lastLogLines }));
  };
  const onDeathsUnheard = (): void => {
    abort.abort(new LabError('STACK_GONE', 'the Docker engine has stopped telling what becomes of its containers, so the death of a server could go unseen', '`docker info` says whether it runs; then start the run again'));
  };
  const wanted = { smallKafkaDisk: needs.includes('small-kafka-disk'), serverFiles: needs.includes('server-files') };
  const open = (): RunningStack | Promise<RunningStack> => {
    switch (source.kind) {
      case 'start':
        return startStack(source.request, { lanes: 1, onNote: note, onServerDeath, onDeathsUnheard, signal: abort.signal, mayOutliveLab: source.onKept !== null, ...wanted });
      case 'described':
        if (source.description.provider === 'containers') refuseInContainers(whatOnlyLocalHas(wanted));
        return openStack(source.description, { onNote: note, onServerDeath, onDeathsUnheard });
      case 'lent':
        return source.handle;
    }
  };
  const handle = await open();
  if (source.kind !== 'lent') {
    teardown.push('stack', async () => {
      if (source.kind === 'described') return handle.release();
      if (source.onKept === null || abort.signal.aborted) return handle.stop();
      await source.onKept(handle.description);
      return handle.release();
    });
  }
  return {
    handle,
    get description() {
      return handle.description;
    },
    lane: source.kind === 'lent' ? source.lane : 0,
    workers: source.kind === 'lent' ? source.workers : null,
    isShared: source.kind !== 'start',
    registerPid(pid, who) {
      handle.registerPid(pid).catch((cause: unknown) => {
        note(`${who} (process ${String(pid)}) could not be registered for clean-up: ${cause instanceof Error ? cause.message : String(cause)}`);
      });
    },
  };
}

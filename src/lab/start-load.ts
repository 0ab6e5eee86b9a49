/** Starts the generator's process: plan expanded, rehearsed, connected to every gateway. */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { RoleConfig } from '../domain/role-config.js';
import { startGenerator, type RunningGenerator } from '../load/generator-client.js';
import type { LoadJob, LoadProgress } from '../load/load-job.js';
import type { PayersJob } from '../load/payers.js';
import type { UsableStack } from './bring-up-stack.js';
import type { RunPlan } from './run-plan.js';
import type { Teardown } from './teardown.js';
import { addressesOf } from './topology.js';

export interface StartedLoad {
  readonly generator: RunningGenerator;
  latest(): LoadProgress | null;
}

function paymentJob(plan: RunPlan, configs: readonly RoleConfig[]): PayersJob | null {
  const [payment] = configs.filter((config) => config.role === 'payment');
  if (plan.load.payers === null) return null;
  if (payment === undefined) throw new Error(`clients of ${plan.scenario.name} pay and there is no payment role`);
  return { targets: addressesOf(configs, 'payment'), callbackSecret: payment.tuning.paymentCallbackSecret, channel: payment.tuning.paymentChannel };
}

export async function startLoad(plan: RunPlan, configs: readonly RoleConfig[], stack: UsableStack, directory: string, teardown: Teardown): Promise<StartedLoad> {
  const gateway = configs.find((config) => config.role === 'gateway');
  if (gateway === undefined) throw new Error(`${plan.scenario.name} has no gateway`);
  let latest: LoadProgress | null = null;
  const onProgress = (progress: LoadProgress): void => {
    latest = progress;
  };
  const job: LoadJob = {
    load: plan.load,
    targets: addressesOf(configs, 'gateway'),
    directory,
    inproc: plan.load.transport === 'inproc' ? { modulePath: fileURLToPath(new URL('./inproc-worker.js', import.meta.url)), config: gateway } : null,
    payment: paymentJob(plan, configs),
    permitSecret: plan.load.permits === null ? null : plan.tuning.funnel.permitSecret,
  };
  const generator =
    stack.workers === null
      ? await ownGenerator(job, stack, directory, onProgress)
      : await stack.workers.startGenerator({ ...job, calibrates: false, rehearsalRequests: REHEARSAL_OF_THE_WARM }, { onProgress });
  teardown.push('generator', () => generator.stop());
  return { generator, latest: () => latest };
}

/** Enough to see that every connection's gateway answers; the code is compiled already. */
const REHEARSAL_OF_THE_WARM = 16;

async function ownGenerator(job: LoadJob, stack: UsableStack, directory: string, onProgress: (progress: LoadProgress) => void): Promise<RunningGenerator> {
  const logFd = openSync(join(directory, 'logs', 'generator.log'), 'a');
  try {
    return await startGenerator(job, {
      logFd,
      entry: fileURLToPath(new URL('../load/main.js', import.meta.url)),
      onSpawn: (pid) => {
        stack.registerPid(pid, 'generator');
      },
      onProgress,
    });
  } finally {
    closeSync(logFd);
  }
}

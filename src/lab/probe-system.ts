/**
 * A stack with one gateway and nothing to judge: what the saturation probe knocks at. Uses the same steps as a run, and tears down alike.
 */
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { HostPort } from '../domain/role-config.js';
import type { LoadSpec } from '../facts/load-spec.js';
import type { LabEventListener } from '../facts/lab-event.js';
import type { RunStore } from '../facts/run-store.js';
import type { Scenario } from '../scenarios/scenario.js';
import { orAborted } from './abort.js';
import { bringUpStack, type StackSource } from './bring-up-stack.js';
import { dropNamespace, prepareSystem } from './prepare-system.js';
import { planRun } from './run-plan.js';
import { startRoles } from './start-roles.js';
import { createTeardown } from './teardown.js';
import { addressesOf } from './topology.js';

export interface ProbeTarget {
  readonly gateway: HostPort;
  readonly load: Pick<LoadSpec, 'activityId' | 'skuId'>;
}

/** Roles keep their logs in the folder of a run; a probe has none, so nothing is saved. */
function storeIn(directory: string): RunStore {
  const nothing = (): Promise<void> => Promise.resolve();
  return { directory, saveManifest: nothing, appendEvent: () => undefined, saveFacts: nothing, saveVerdict: nothing };
}

/** Starts the system of the scenario, hands its first gateway to `work`, and tears everything down whatever happens. */
export async function withProbeSystem<Result>(
  scenario: Scenario,
  around: { readonly source: StackSource; readonly abort: AbortController; readonly emit: LabEventListener },
  work: (target: ProbeTarget) => Promise<Result>,
): Promise<Result> {
  const { source, abort, emit } = around;
  const plan = planRun(scenario, {}, null);
  const teardown = createTeardown();
  const directory = await mkdtemp(join(tmpdir(), 'seckill-probe-'));
  teardown.push('folder', () => rm(directory, { recursive: true, force: true }));
  try {
    await mkdir(join(directory, 'logs'));
    const stack = await bringUpStack(source, abort, emit, teardown);
    await orAborted(abort.signal, prepareSystem(plan, stack.description));
    if (stack.isShared) teardown.push('namespace', () => dropNamespace(plan, stack.description));
    const system = startRoles(plan, stack, { store: storeIn(directory), emit, abort, teardown });
    await orAborted(abort.signal, system.untilReady());
    const [gateway] = addressesOf(system.configs, 'gateway');
    if (gateway === undefined) throw new Error(`${scenario.name} has no gateway`);
    return await orAborted(abort.signal, work({ gateway, load: plan.load }));
  } finally {
    for (const { what, cause } of await teardown.run()) {
      emit({ kind: 'note', text: `tearing down ${what} failed: ${cause instanceof Error ? cause.message : String(cause)}`, atUs: 0 });
    }
  }
}

/**
 * One run, in nine steps (DESIGN §2):
 *
 * 1. plan     – options and seed resolved, manifest written, before anything can fail
 * 2. stack    – Redis, PostgreSQL, Kafka, Toxiproxy; one proxy per role and server
 * 3. system   – namespace, migration, seed, mirror in Redis, commit log's slot, role processes
 * 4. probe    – every role healthy through its own proxies, the generator rehearsed and connected
 * 5. storm    – load and faults side by side
 * 6. heal     – every fault undone and the undoing proven
 * 7. settle   – DRAINED with a bound; clients ask once more; roles stopped and seen gone
 * 8. harvest  – facts read and saved, only then judged
 * 9. report   – verdict, files; everything torn down
 *
 * Whatever happens, what was set up is undone in reverse order: faults first, the stack last.
 */
import type { LabEventListener } from '../facts/lab-event.js';
import type { RunStore } from '../facts/run-store.js';
import type { RunVerdict } from '../facts/verdict.js';
import { orAborted } from './abort.js';
import { stackNeedsOf } from './bound-faults.js';
import { bringUpStack, type StackSource } from './bring-up-stack.js';
import { clockFacts, monoUs, readClockPair } from './host-clock.js';
import { harvestAll } from './harvest/harvest.js';
import { giveWay } from './priorities.js';
import { judgeFacts } from './judge.js';
import { awaitStrikes } from './await-strikes.js';
import { assembleFacts } from './assemble-facts.js';
import { dropNamespace, prepareSystem } from './prepare-system.js';
import { manifestOf, manifestStack, type RunPlan } from './run-plan.js';
import type { RunOptions } from './run-options.js';
import { settleAndQuiesce } from './quiesce.js';
import { stagesOf } from './stages.js';
import { prepareRoleHome, type RoleHosting } from './roles/role-home.js';
import { startLoad } from './start-load.js';
import { startRoles } from './start-roles.js';
import { measured, withCost } from './storm-cost.js';
import { blowStorm, healEverything } from './storm.js';
import { createTeardown } from './teardown.js';
import { watchProgress } from './watch-progress.js';

export interface RunSurroundings {
  readonly store: RunStore;
  readonly emit: LabEventListener;
  /** Ctrl-C, or a server that died. */
  readonly abort: AbortController;
  readonly stackSource: StackSource;
  readonly argv: readonly string[];
  readonly options: RunOptions;
  /** Absent: as processes. */
  readonly roles?: RoleHosting;
}

/** Throws `LabError` when the run cannot be carried out; a violated invariant is a value. */
export async function runExperiment(plan: RunPlan, around: RunSurroundings): Promise<RunVerdict> {
  const { store, emit, abort } = around;
  const { signal } = abort;
  const stage = stagesOf(emit, signal);
  const teardown = createTeardown();
  try {
    const manifest = manifestOf(plan, around.argv, around.options);
    await stage('plan', () => store.saveManifest(manifest));

    const { home, stack } = await stage('stack', async () => ({
      home: await prepareRoleHome(around.roles, around.stackSource, (text) => emit({ kind: 'note', text, atUs: monoUs() }), signal),
      stack: await bringUpStack(around.stackSource, abort, emit, teardown, stackNeedsOf(plan.faults)),
    }));

    const system = await stage('system', async () => {
      await store.saveManifest({ ...manifest, stack: manifestStack(stack.description, home.shown) });
      await orAborted(signal, prepareSystem(plan, stack.description));
      // Before the roles connect, so that what PostgreSQL forks for them inherits it.
      giveWay(plan, stack, [], teardown);
      return startRoles(plan, stack, { store, emit, abort, teardown, place: home.placeOn(stack) });
    });

    const load = await stage('probe', async () => {
      await orAborted(signal, system.untilReady());
      return orAborted(signal, startLoad(plan, system.configs, stack, store.directory, teardown));
    });
    const unmoved = giveWay(plan, stack, system.supervisor.all(), teardown);
    if (unmoved.length > 0) emit({ kind: 'note', text: `${unmoved.join(', ')} keep their priority, at least in part, though this scenario asks for another: they run in containers, or this user may not change it`, atUs: monoUs() });
    const watcher = await watchProgress(plan, stack, load, emit, teardown);

    const storm = await stage('storm', async () => {
      const blown = await measured(stack, system.supervisor, () => blowStorm(signal, load.generator, (startUs) => system.startFaults(startUs), stack.workers !== null));
      await awaitStrikes(plan, stack, blown.faults, signal);
      return blown;
    });

    const healed = await stage('heal', () => healEverything(storm.faults, storm.facts.endedUs, emit));

    const settle = await stage('settle', () => settleAndQuiesce(plan, stack.description, system, load.generator, healed.healedUs, signal));
    watcher.stop();

    const facts = await stage('harvest', async () => {
      const harvested = await harvestAll(plan, stack.description, store.directory);
      const clock = clockFacts(manifest.clockAtStart, readClockPair());
      const assembled = assembleFacts(plan, harvested, clock, healed.records, withCost(settle, storm.cost));
      await store.saveFacts(assembled);
      return assembled;
    });

    return await stage('report', async () => {
      const verdict = judgeFacts(facts, { id: plan.runId, startedAt: plan.startedAt, directory: store.directory });
      await store.saveVerdict(verdict, facts);
      // In a stack that lives on, a green run leaves nothing; any other keeps its database and keys to look at.
      if (stack.isShared && verdict.outcome === 'green') await dropNamespace(plan, stack.description);
      emit({ kind: 'verdict', verdict, atUs: monoUs() });
      return verdict;
    });
  } finally {
    for (const { what, cause } of await teardown.run()) {
      emit({ kind: 'note', text: `tearing down ${what} failed: ${cause instanceof Error ? cause.message : String(cause)}`, atUs: monoUs() });
    }
  }
}

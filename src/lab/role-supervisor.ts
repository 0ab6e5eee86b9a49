/**
 * Keeps the role processes of a run: starts them, waits for their health, starts again what was killed on purpose, and reports any other
 * death as `LabError` ROLE_DIED.
 */
import type { RoleInstance, RoleName } from '../domain/roles.js';
import { roleOfInstance } from '../domain/roles.js';
import { LabError } from '../facts/lab-error.js';
import type { MetricsFacts } from '../facts/facts.js';
import type { RoleExit, RoleTarget } from '../facts/targets.js';
import { parseMetrics } from './roles/role-http.js';
import { RoleSlot, type RoleSpec, type SlotSurroundings } from './roles/role-slot.js';

export type { RoleSpec } from './roles/role-slot.js';

export type RoleSupervisorOptions = SlotSurroundings;

export interface StopReport {
  /** Roles that did not end as they should, in words; empty: all ended by themselves with code 0. */
  readonly problems: readonly string[];
  readonly exits: readonly RoleExit[];
}

export interface RoleSupervisor {
  /** Spawns all and resolves when each was seen healthy. LabError ROLE_START_FAILED with the reason after `boundMs`, or at a first death. */
  start(specs: readonly RoleSpec[], boundMs?: number): Promise<void>;
  /** Every instance runs and was seen healthy since its last start. */
  allReady(): boolean;
  roles(role: RoleName): readonly RoleTarget[];
  instances(): readonly RoleInstance[];
  all(): readonly RoleSlot[];
  /** Last metrics of each role that answers, with `seckill_lab_role_cpu_seconds_total` and `seckill_lab_role_starts_total` from outside. A restarted role's own counters begin anew. */
  scrapeMetrics(): Promise<MetricsFacts>;
  /** User plus system seconds per instance, over restarts; up to a second of a killed process may be missing. */
  cpuSeconds(): Readonly<Record<string, number>>;
  /** Wakes the stopped, SIGTERM to all, SIGKILL after 6 s; every exit seen. Idempotent; never rejects. */
  stopAll(): Promise<StopReport>;
}

const START_BOUND_MS = 20_000;
const CPU_SAMPLE_MS = 1_000;
const LOOK_EVERY_MS = 20;

export function createRoleSupervisor(options: RoleSupervisorOptions): RoleSupervisor {
  let slots: readonly RoleSlot[] = [];
  let startFailure: LabError | null = null;
  let sampler: NodeJS.Timeout | null = null;
  let stopped: Promise<StopReport> | null = null;
  let starting = false;
  const surroundings: SlotSurroundings = {
    ...options,
    onUnplannedDeath: (error) => {
      // While `start` waits, it is the one to tell.
      if (starting) startFailure ??= error;
      else options.onUnplannedDeath(error);
    },
  };

  const waitForAll = async (boundMs: number): Promise<void> => {
    const deadline = Date.now() + boundMs;
    while (!slots.every((slot) => slot.isReady())) {
      if (startFailure !== null) throw startFailure;
      if (stopped !== null) throw new LabError('ROLE_START_FAILED', 'the roles were stopped while they were starting', 'run again');
      if (Date.now() > deadline) {
        const late = slots.filter((slot) => !slot.isReady());
        const details = await Promise.all(late.map(async (slot) => `${slot.instance}: ${await slot.healthProblems()} (log: ${slot.logFile})`));
        throw new LabError('ROLE_START_FAILED', `${late.map((slot) => slot.instance).join(', ')} not healthy within ${String(boundMs)} ms`, 'read the logs named below', { details });
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  };

  const stopEverything = async (): Promise<StopReport> => {
    if (sampler !== null) clearInterval(sampler);
    for (const slot of slots) slot.expectStop();
    const problems = (await Promise.all(slots.map((slot) => slot.stop()))).flat();
    return { problems, exits: slots.flatMap((slot) => slot.exits()) };
  };

  return {
    async start(specs, boundMs = START_BOUND_MS) {
      slots = specs.map((spec) => new RoleSlot(spec, surroundings));
      starting = true;
      try {
        for (const slot of slots) slot.start();
        sampler = setInterval(() => {
          for (const slot of slots) slot.sampleCpu();
        }, CPU_SAMPLE_MS).unref();
        await waitForAll(boundMs);
      } finally {
        starting = false;
      }
    },
    allReady: () => slots.every((slot) => slot.isReady()),
    roles: (role) => slots.filter((slot) => roleOfInstance(slot.instance) === role),
    instances: () => slots.map((slot) => slot.instance),
    all: () => slots,
    async scrapeMetrics() {
      for (const slot of slots) slot.sampleCpu();
      const rows = await Promise.all(
        slots.map(async (slot): Promise<[string, Record<string, number>]> => [
          slot.instance,
          {
            ...parseMetrics((await slot.metricsText()) ?? ''),
            seckill_lab_role_cpu_seconds_total: slot.cpuSeconds(),
            seckill_lab_role_starts_total: slot.starts(),
          },
        ]),
      );
      return Object.fromEntries(rows);
    },
    cpuSeconds: () => Object.fromEntries(slots.map((slot) => [slot.instance, slot.cpuSeconds()])),
    stopAll: () => (stopped ??= stopEverything()),
  };
}

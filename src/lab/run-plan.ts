/**
 * Step 1 of a run: scenario + options + seed → one plan value that says everything the run will do.
 */
import { cpus, totalmem, type as osType, release } from 'node:os';

import { namespaceOf, type Namespace } from '../domain/namespace.js';
import { DEFAULT_TUNING, type RoleTuning, type Strategies } from '../domain/role-config.js';
import { ROLE_NAMES, roleOfInstance, type RoleInstance, type RoleName } from '../domain/roles.js';
import { PLAN_SCHEMA_VERSION, type ExperimentPlan } from '../facts/experiment-plan.js';
import type { ActivityRules, ShownSpec } from '../facts/facts.js';
import type { LoadSpec } from '../facts/load-spec.js';
import type { Manifest, ManifestRoles, ManifestStack } from '../facts/run-store.js';
import type { StackDescription } from '../facts/stack-description.js';
import { USUAL_RULES, type Scenario } from '../scenarios/scenario.js';
import { gitState, toolVersions } from './provenance.js';
import { readClockPair } from './host-clock.js';
import { optionTexts, type RunOptions } from './run-options.js';

export interface RunPlan {
  readonly runId: string;
  readonly scenario: Scenario;
  readonly seed: number;
  readonly startedAt: string;
  readonly namespace: Namespace;
  readonly load: LoadSpec;
  readonly stock: number;
  readonly strategies: Strategies;
  readonly tuning: RoleTuning;
  readonly rules: ActivityRules;
  readonly instances: readonly RoleInstance[];
  /** Fault options of the scenario and of the command line, in order. */
  readonly faults: readonly string[];
  readonly mutant: string | null;
  /** What the run has to have come to. */
  readonly shows: readonly ShownSpec[];
  /** After the storm faults may strike until everything has been drained for so long; 0: what has not struck at its end does not. */
  readonly faultPatienceMs: number;
}

/** Open files are limited to 20,000 on common machines, and a socket has two ends on this one host. */
const CONNECTIONS_MAX = 8_192;
const ACTIVITY_ID = '9007199254740997';
const SKU_ID = '9007199254740999';

function instancesOf(roles: Scenario['roles'], options: RunOptions): RoleInstance[] {
  const counts: Partial<Record<RoleName, number>> = { ...roles };
  if (options.gateways !== undefined) counts.gateway = options.gateways;
  if (options.consumers !== undefined) counts.consumer = options.consumers;
  return ROLE_NAMES.flatMap((role) => Array.from({ length: counts[role] ?? 0 }, (_, index): RoleInstance => `${role}-${index + 1}`));
}

let plansMade = 0;

/** `r`, the time, the process and a counter: runs that begin in one millisecond, here or elsewhere on the host, do not meet. */
function freshNamespace(nowMs: number): Namespace {
  plansMade += 1;
  return namespaceOf(`r${nowMs.toString(36)}${(process.pid % 1_296).toString(36)}${(plansMade % 1_296).toString(36)}`);
}

/** A second's worth of batches, one a beat of the clock: an arrival that waits for a free connection is late, whoever made it wait (facts/load-honesty.ts). */
const EDGE_CONNECTIONS_MAX = 1_024;

function connectionsFor(transport: LoadSpec['transport'], atLeast: number, ratePerSecond: number): number {
  if (transport === 'edge') return Math.min(atLeast, EDGE_CONNECTIONS_MAX);
  // Two seconds' worth of sockets: a gateway that is slow for a second after its start must not starve the generator (512 made runs void).
  return Math.max(atLeast, Math.min(2 * ratePerSecond, CONNECTIONS_MAX));
}

export function planRun(scenario: Scenario, options: RunOptions, mutant: string | null): RunPlan {
  const now = new Date();
  const seed = options.seed ?? 1 + Math.floor(Math.random() * 2_147_483_646);
  const namespace = freshNamespace(now.getTime());
  const ratePerSecond = options.rate ?? scenario.load.ratePerSecond;
  const transport = options.transport ?? scenario.load.transport;
  return {
    runId: `${scenario.name}/${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}-${String(seed)}`,
    scenario,
    seed,
    startedAt: now.toISOString(),
    namespace,
    load: {
      ...scenario.load,
      seed,
      ratePerSecond,
      connections: connectionsFor(transport, scenario.load.connections, ratePerSecond),
      durationMs: options.duration ?? scenario.load.durationMs,
      transport,
      ...(options.edgeForm === undefined ? {} : { edgeForm: options.edgeForm }),
      activityId: ACTIVITY_ID,
      skuId: SKU_ID,
    },
    stock: options.stock ?? scenario.stock,
    strategies: {
      consumer: options.consumer ?? scenario.strategies?.consumer ?? 'batch:500',
      allocator: options.allocator ?? scenario.strategies?.allocator ?? 'token',
    },
    tuning: { ...DEFAULT_TUNING, ...scenario.tuning },
    rules: scenario.rules ?? USUAL_RULES,
    instances: instancesOf(scenario.roles, options),
    faults: [...scenario.faults, ...(options.clockSkew ?? []), ...(options.fault ?? [])],
    mutant,
    shows: showsOf(scenario, options),
    faultPatienceMs: 0,
  };
}

/** The run as a plan file would say it, all defaults filled in: `run --plan` on it is the same run again. */
export function experimentPlanOf(plan: RunPlan, options: RunOptions): ExperimentPlan {
  const { scenario, seed, load, stock, faults, mutant, instances } = plan;
  const processes = (role: RoleName): number => instances.filter((instance) => roleOfInstance(instance) === role).length;
  return {
    schemaVersion: PLAN_SCHEMA_VERSION,
    scenario: scenario.name,
    seed,
    options: { ...optionTexts(options), ...optionTexts({ rate: load.ratePerSecond, duration: load.durationMs, stock, transport: load.transport, gateways: processes('gateway'), consumers: processes('consumer') }) },
    faults,
    ...(mutant === null ? {} : { mutant }),
  };
}

/** A run that is made smaller on the command line has to come to its share, and to something in any case. */
function showsOf({ shows = [], load, stock }: Scenario, options: RunOptions): readonly ShownSpec[] {
  const arrivals = ((options.rate ?? load.ratePerSecond) * (options.duration ?? load.durationMs)) / (load.ratePerSecond * load.durationMs);
  const share = Math.min(1, arrivals, (options.stock ?? stock) / stock);
  return shows.map(({ figure, atLeast, atMost }) => ({ figure, atLeast: Math.ceil(atLeast * share), ...(atMost === undefined ? {} : { atMost: Math.ceil(atMost * share) }) }));
}

/** What ran, for the manifest. */
export function manifestStack(stack: StackDescription, roles: ManifestRoles): ManifestStack {
  const rows = Object.values(stack.servers).map(({ name, version, container }) => [name, { version, ...(container === undefined ? {} : { image: container.image, imageId: container.imageId, digest: container.digest }) }] as const);
  return { provider: stack.provider, servers: Object.fromEntries(rows), roles };
}

/** What is written before anything starts, so that a run that dies can still be told from another. */
export function manifestOf(plan: RunPlan, argv: readonly string[], options: RunOptions): Manifest {
  return {
    schemaVersion: 1,
    runId: plan.runId,
    scenario: plan.scenario.name,
    seed: plan.seed,
    startedAt: plan.startedAt,
    argv,
    git: gitState(),
    versions: toolVersions(),
    machine: { system: osType(), release: release(), cores: cpus().length, model: cpus()[0]?.model ?? 'unknown', memoryBytes: totalmem() },
    options: Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)),
    load: plan.load,
    plan: experimentPlanOf(plan, options),
    clockAtStart: readClockPair(),
    stack: null,
  };
}

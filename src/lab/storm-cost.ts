/** What a storm costs: processor time of every process of the run while it blows, and what the host took away from this machine meanwhile. */
import { readFileSync } from 'node:fs';

import type { GeneratorFacts } from '../facts/history.js';
import { SERVER_NAMES, type StackDescription } from '../facts/stack-description.js';
import { TICKS_PER_SECOND, descendantsOf, processStat } from './roles/process-stat.js';
import type { Settled } from './assemble-facts.js';
import type { RoleSupervisor } from './role-supervisor.js';

/** Series under this name among the metrics of a run. */
export const LAB_METRICS = 'lab';

type Series = Readonly<Record<string, number>>;

/** A server with its children: PostgreSQL is a process a connection. */
function cpuSecondsOf(pid: number): number {
  return [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + (processStat(each)?.cpuSeconds ?? 0), 0);
}

/** Seconds that the machine wanted to run and was not let; all cores together. */
export function stealSeconds(): number {
  try {
    return Number(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/)[8] ?? 0) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

function sample(stack: StackDescription, supervisor: RoleSupervisor): ReadonlyMap<string, number> {
  for (const role of supervisor.all()) role.sampleCpu();
  const servers = SERVER_NAMES.flatMap((name): [string, number][] => {
    const { pid } = stack.servers[name];
    return pid === null ? [] : [[name, cpuSecondsOf(pid)]];
  });
  return new Map([...Object.entries(supervisor.cpuSeconds()), ...servers, ['steal', stealSeconds()]]);
}

/** Blows the storm, and says besides what it cost. */
export async function measured<Blown extends { readonly facts: GeneratorFacts }>(stack: { readonly description: StackDescription }, supervisor: RoleSupervisor, blow: () => Promise<Blown>): Promise<Blown & { readonly cost: Series }> {
  const before = sample(stack.description, supervisor);
  const blown = await blow();
  const cost: Record<string, number> = { 'seckill_lab_storm_cpu_seconds{process="generator"}': blown.facts.cpuSeconds };
  for (const [name, seconds] of sample(stack.description, supervisor)) {
    const spent = Math.max(0, seconds - (before.get(name) ?? 0));
    cost[name === 'steal' ? 'seckill_lab_storm_steal_seconds' : `seckill_lab_storm_cpu_seconds{process="${name}"}`] = spent;
  }
  return { ...blown, cost };
}

/** Beside what the roles told of themselves. */
export function withCost(settled: Settled, cost: Series): Settled {
  const { metrics } = settled;
  return metrics.present ? { ...settled, metrics: { present: true, value: { ...metrics.value, [LAB_METRICS]: cost } } } : settled;
}

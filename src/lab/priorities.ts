/**
 * Priorities of the processes of a run, where a scenario asks for them: on a machine that everything shares, what may be late makes room for what must not. A
 * priority belongs to a thread on Linux, so all threads of a process are gone through; threads and processes made later inherit theirs.
 *
 * Where the kernel groups processes by session (`sched_autogroup_enabled`, the default of most distributions), a priority counts inside of its group alone and all groups
 * share the processor alike: ten backends of PostgreSQL, each a session of its own, then weigh ten times as much as the gateway, whatever their priorities say. So the
 * group gets the priority too.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

import { roleOfInstance, type RoleInstance } from '../domain/roles.js';
import { SERVER_NAMES, type ServerName } from '../facts/stack-description.js';
import type { RoleTarget } from '../facts/targets.js';
import type { UsableStack } from './bring-up-stack.js';
import { descendantsOf } from './roles/process-stat.js';
import type { RunPlan } from './run-plan.js';
import type { Teardown } from './teardown.js';

/** Ends while it is looked at, or may not be touched: then it stays as it is. */
function setForThreads(pid: number, nice: number): boolean {
  let all = true;
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, nice);
    } catch {
      all = false;
    }
  }
  return all;
}

function threadsOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${String(pid)}/task`).map(Number);
  } catch {
    return [];
  }
}

/** Name of a process's group and the priority of that; null where the kernel makes no groups. */
function groupOf(pid: number | 'self'): { readonly name: string; readonly nice: number } | null {
  try {
    const [, name, nice] = /^(\S+) nice (-?\d+)/.exec(readFileSync(`/proc/${String(pid)}/autogroup`, 'utf8')) ?? [];
    return name === undefined ? null : { name, nice: Number(nice) };
  } catch {
    return null;
  }
}

/** Not the lab's own group: whoever shares its session would make room too. */
function setForGroup(pid: number, nice: number): boolean {
  const group = groupOf(pid);
  if (group === null || group.nice === nice || group.name === groupOf('self')?.name) return true;
  try {
    writeFileSync(`/proc/${String(pid)}/autogroup`, String(nice));
    return true;
  } catch {
    return false;
  }
}

/** Gives a process, its threads, its descendants and their sessions this priority. False: some could not be set. */
export function setNice(pid: number, nice: number): boolean {
  return [pid, ...descendantsOf(pid)].map((each) => [setForThreads(each, nice), setForGroup(each, nice)].every(Boolean)).every(Boolean);
}

/** Gives the processes of the run the priorities that its scenario asks for; tells who keeps his own, at least in part: servers that have no process here, and whatever the kernel does not let this user change. In a stack that lives on they are taken back at the end, as far as this user may. */
export function giveWay({ scenario: { priorities } }: Pick<RunPlan, 'scenario'>, stack: Pick<UsableStack, 'description' | 'isShared'>, roles: readonly Pick<RoleTarget, 'instance' | 'pid'>[], teardown: Teardown): readonly (ServerName | RoleInstance)[] {
  if (priorities === undefined) return [];
  const unmoved: (ServerName | RoleInstance)[] = [];
  for (const name of SERVER_NAMES) {
    const [nice, pid] = [priorities[name], stack.description.servers[name].pid];
    if (nice === undefined) continue;
    if (pid === null || !setNice(pid, nice)) unmoved.push(name);
    if (pid === null) continue;
    if (stack.isShared) teardown.push(`priority of ${name}`, () => Promise.resolve(void setNice(pid, 0)));
  }
  for (const role of roles) {
    const [nice, pid] = [priorities[roleOfInstance(role.instance)], role.pid()];
    if (nice !== undefined && pid !== null && !setNice(pid, nice)) unmoved.push(role.instance);
  }
  return unmoved;
}

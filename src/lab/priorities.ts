/**
 * Priorities of the processes of a run, where a scenario asks for them: on a machine that everything shares, what may be late makes room for what must not. A
 * priority belongs to a thread on Linux, so all threads of a process are gone through; threads and processes made later inherit theirs.
 */
import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

import { roleOfInstance, type RoleInstance, type RoleName } from '../domain/roles.js';
import { SERVER_NAMES, type ServerName, type StackDescription } from '../facts/stack-description.js';
import { descendantsOf } from './roles/process-stat.js';

export type Priorities = Readonly<Partial<Record<RoleName | ServerName, number>>>;

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

/** Gives a process, its threads and its descendants this priority. False: some could not be set. */
export function setNice(pid: number, nice: number): boolean {
  return [pid, ...descendantsOf(pid)].map((each) => setForThreads(each, nice)).every(Boolean);
}

/** Gives every process of the run its priority. Returns the names of those that could not be set. */
export function applyPriorities(priorities: Priorities, stack: StackDescription, roles: Iterable<{ readonly instance: RoleInstance; pid(): number | null }>): readonly string[] {
  const missed: string[] = [];
  for (const name of SERVER_NAMES) {
    const [nice, pid] = [priorities[name], stack.servers[name].pid];
    if (nice !== undefined && (pid === null || !setNice(pid, nice))) missed.push(name);
  }
  for (const role of roles) {
    const [nice, pid] = [priorities[roleOfInstance(role.instance)], role.pid()];
    if (nice !== undefined && (pid === null || !setNice(pid, nice))) missed.push(role.instance);
  }
  return missed;
}

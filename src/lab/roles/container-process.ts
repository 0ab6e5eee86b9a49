/** Which process of this host is the main process of a container. Whoever signals by a number that an engine told has to know whose number it is. */
import { readFileSync } from 'node:fs';

import { LabError } from '../../facts/lab-error.js';
import { readProcess, type ProcessIdentity } from '../../stack/local/process-table.js';

/**
 * null: it has ended already.
 * LabError ROLE_START_FAILED when the number belongs to another process here: the engine then counts the processes of another kernel (a virtual machine),
 * or of another space of process ids, and a signal would hit a stranger.
 */
export function mainProcessOf(containerId: string, pid: number, cgroupOf: (pid: number) => string = readCgroup): ProcessIdentity | null {
  const before = pid > 0 ? readProcess(pid) : null;
  if (before === null) return null;
  const isOurs = containerId !== '' && cgroupOf(pid).includes(containerId);
  if (readProcess(pid)?.startTicks !== before.startTicks) return null;
  if (isOurs) return { pid, startTicks: before.startTicks };
  throw new LabError('ROLE_START_FAILED', `the engine says that container ${containerId.slice(0, 12)} is process ${String(pid)}, which is another one on this machine`, 'use an engine that runs on this very machine and shares its process ids, or `--roles processes`');
}

/** An engine puts the id of a container into the name of its control group, whichever driver it uses. */
function readCgroup(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/cgroup`, 'latin1');
  } catch {
    return '';
  }
}

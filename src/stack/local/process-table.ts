/**
 * What Linux says about processes: identity, state, children. A pid alone is not an identity, it is reused; pid and start time are.
 * Everything here is synchronous: procfs answers from memory.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of `/proc/<pid>/stat`: clock ticks since boot at which it started. */
  readonly startTicks: string;
}

export interface ProcessEntry extends ProcessIdentity {
  readonly command: string;
  /** `R`, `S`, `D`, `T` (stopped), `Z` (zombie), … */
  readonly state: string;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
}

/** The process as it is now; null when there is none. */
export function readProcess(pid: number): ProcessEntry | null {
  return parseStat(pid, `/proc/${String(pid)}/stat`);
}

/** Parses one `stat` line. The command stands in brackets and may itself hold blanks and brackets, so the last bracket counts. */
function parseStat(pid: number, file: string): ProcessEntry | null {
  let text: string;
  try {
    text = readFileSync(file, 'latin1');
  } catch {
    return null;
  }
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const [state, parentPid, groupId, sessionId] = fields;
  const startTicks = fields[19];
  if (open < 0 || close < 0 || state === undefined || startTicks === undefined) return null;
  return {
    pid,
    startTicks,
    command: text.slice(open + 1, close),
    state,
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    sessionId: Number(sessionId),
  };
}

/** All processes of this host that this user can see. About 2 ms for 100 processes. */
export function allProcesses(): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const entry = readProcess(pid);
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

/** True while this very process exists. A zombie is gone: it holds no port, no file and no memory. */
export function isAlive(identity: ProcessIdentity): boolean {
  const entry = readProcess(identity.pid);
  return entry?.startTicks === identity.startTicks && entry.state !== 'Z' && entry.state !== 'X';
}

/** True when every thread of the process is stopped by a signal. False when it is gone. */
export function isStopped(identity: ProcessIdentity): boolean {
  if (!isAlive(identity)) return false;
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${String(identity.pid)}/task`);
  } catch {
    return false;
  }
  return threads.every((thread) => {
    const state = parseStat(Number(thread), `/proc/${String(identity.pid)}/task/${thread}/stat`)?.state;
    // A thread that ended between the two reads does not count.
    return state === undefined || state === 'T' || state === 't';
  });
}

/** Working folder of a process; null when it is gone or belongs to another user. */
export function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${String(pid)}/cwd`);
  } catch {
    return null;
  }
}

/** Sends a signal to this very process; false when it no longer exists. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch {
    return false;
  }
}

/**
 * Everything that belongs to a server: its process group (servers are started as leaders of their own session), and of PostgreSQL also
 * the backends, each of which makes a session of its own: they are found as children of the postmaster and, once that is dead, by their
 * working folder, which is always the data folder.
 */
export function serverProcesses(leader: ProcessIdentity, postgresData: string | null, snapshot = allProcesses()): ProcessEntry[] {
  const entries = snapshot.filter((entry) => entry.state !== 'Z' && entry.state !== 'X');
  const current = entries.find((entry) => entry.pid === leader.pid);
  // The number is in use by a stranger: then our group cannot exist any more either, a group keeps its number reserved.
  const reused = current !== undefined && current.startTicks !== leader.startTicks;
  return entries.filter((entry) => {
    if (!reused && entry.groupId === leader.pid && entry.sessionId === leader.pid) return true;
    if (postgresData === null || entry.command !== 'postgres') return false;
    return (!reused && entry.parentPid === leader.pid) || workingFolder(entry.pid)?.startsWith(postgresData) === true;
  });
}

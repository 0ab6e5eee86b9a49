/**
 * Ends servers and roles for good and removes what they leave: wakes what is stopped, ends the postmaster with SIGQUIT (it then frees its
 * shared memory itself), everything else with SIGKILL, and comes back until /proc shows nothing of them. Used by the reaper, and by
 * `down` where a reaper was itself killed.
 */
import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import { allProcesses, serverProcesses, signalProcess } from './process-table.js';
import type { ProcessEntry, ProcessIdentity } from './process-table.js';
import { removeAbandonedSegments } from './shared-memory.js';

const run = promisify(execFile);

export interface Sweepable {
  readonly leader: ProcessIdentity;
  /** PostgreSQL's data folder, by which its backends are known; null for anything else. */
  readonly postgresData: string | null;
}

/** An immediate shutdown takes some 20 ms; a postmaster that has not ended by then never will. */
const POSTMASTER_GRACE_MS = 3_000;
const SWEEP_LIMIT_MS = 15_000;
const LOOK_EVERY_MS = 10;

/** Resolves when all are gone, or after 15 s with what is left, in words. */
export async function endProcesses(targets: readonly Sweepable[]): Promise<string[]> {
  const began = Date.now();
  wake(targets);
  for (;;) {
    const snapshot = allProcesses();
    const left = targets.flatMap((target) => endOnce(target, snapshot, Date.now() - began));
    if (left.length === 0) break;
    if (Date.now() - began > SWEEP_LIMIT_MS) return left.map((entry) => `process ${String(entry.pid)} (${entry.command}, state ${entry.state}) does not end`);
    await delay(LOOK_EVERY_MS);
  }
  const postmasters = targets.filter((target) => target.postgresData !== null).map((target) => target.leader.pid);
  return removeAbandonedSegments(new Set(postmasters));
}

/** A stopped process takes SIGKILL, but a stopped postmaster cannot end its backends. */
function wake(targets: readonly Sweepable[]): void {
  const snapshot = allProcesses();
  for (const target of targets) for (const entry of serverProcesses(target.leader, target.postgresData, snapshot)) signalProcess(entry, 'SIGCONT');
}

/** One round: signals whatever of the target is alive and returns it. Forks between two rounds are found by the next. */
function endOnce(target: Sweepable, snapshot: ProcessEntry[], elapsedMs: number): ProcessEntry[] {
  const entries = serverProcesses(target.leader, target.postgresData, snapshot);
  const postmaster = target.postgresData === null ? undefined : entries.find((entry) => entry.pid === target.leader.pid);
  if (postmaster !== undefined && elapsedMs < POSTMASTER_GRACE_MS) {
    signalProcess(postmaster, 'SIGQUIT');
    return entries;
  }
  for (const entry of entries) signalProcess(entry, 'SIGKILL');
  return entries;
}

/** A small disk that a fault or a start has mounted below the folder; a folder with one in it cannot be removed. */
async function unmountBelow(folder: string): Promise<void> {
  const mounts = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const below = mounts.split('\n').flatMap((line) => line.split(' ')[1] ?? []).filter((place) => place.startsWith(`${folder}/`));
  // The innermost first. Lazily: a process on its way out may still have a file open there.
  for (const place of below.reverse()) await run('umount', ['-l', place]);
}

/** Removes the folders; returns what could not be removed, in words. */
export async function removeFolders(folders: Iterable<string>): Promise<string[]> {
  const problems: string[] = [];
  for (const folder of folders) {
    try {
      await unmountBelow(folder);
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    } catch (error) {
      problems.push(`folder ${folder} could not be removed: ${String(error)}`);
    }
  }
  return problems;
}

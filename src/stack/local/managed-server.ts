/** One server of a local stack in the hands of the lab: started by the reaper, frozen, thawed, killed and started again. */
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { LabError } from '../../facts/lab-error.js';
import type { NetworkTarget, ServerTarget } from '../../facts/targets.js';
import { lastLines } from '../workshop.js';
import { isAlive, isStopped, serverProcesses, signalProcess } from './process-table.js';
import type { ProcessEntry, ProcessIdentity } from './process-table.js';
import type { ReaperClient } from './reaper-client.js';
import type { ServerLaunch } from './server-launch.js';
import { logSince } from './server-readiness.js';
import type { ReadinessCheck } from './server-readiness.js';
import { removeAbandonedSegments } from './shared-memory.js';

export interface ManagedServer extends Omit<ServerTarget, keyof NetworkTarget> {
  identity(): ProcessIdentity | null;
}

export interface ServerSurroundings {
  readonly reaper: ReaperClient;
  readonly launch: ServerLaunch;
  readonly isReady: ReadinessCheck;
  /** Runs when it answers again, before `start` resolves. */
  readonly afterStart?: () => Promise<void>;
  /** It ended and nobody had asked for that. */
  onDeath(lastLogLines: readonly string[]): void;
}

const SIGNAL_LIMIT_MS = 5_000;
const START_LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 10;
const LAST_LINES = 15;

/** @param running its process when it runs already (a stack that another lab started); null: not started yet. */
export function manageServer(surroundings: ServerSurroundings, running: ProcessIdentity | null): ManagedServer {
  const { reaper, launch } = surroundings;
  let identity = running;
  let isStarting = false;

  reaper.onExit((event) => {
    // The end of one that is starting is the business of `start`.
    if (event.key !== launch.name || event.pid !== identity?.pid || event.expected || isStarting) return;
    surroundings.onDeath(lastLogLines(launch.logFile));
  });
  reaper.onStarted((event) => {
    if (event.key === launch.name) identity = { pid: event.pid, startTicks: event.startTicks };
  });

  const processes = (): ProcessEntry[] => (identity === null ? [] : serverProcesses(identity, launch.postgresData));

  async function freeze(): Promise<void> {
    const leader = requireRunning();
    // The leader first: a stopped postmaster makes no new backend while the others are stopped one by one.
    signalProcess(leader, 'SIGSTOP');
    await until(() => isStopped(leader), `${launch.name} to stop`);
    await until(() => {
      const moving = processes().filter((entry) => !isStopped(entry) && isAlive(entry));
      for (const entry of moving) signalProcess(entry, 'SIGSTOP');
      return moving.length === 0;
    }, `${launch.name} to stop`);
  }

  async function thaw(): Promise<void> {
    const stopped = (): ProcessEntry[] => processes().filter(isStopped);
    await until(() => {
      const entries = stopped();
      for (const entry of entries) signalProcess(entry, 'SIGCONT');
      return entries.length === 0;
    }, `${launch.name} to go on`);
  }

  async function kill(): Promise<void> {
    const leader = identity;
    if (leader === null) return;
    await reaper.request({ op: 'expect', key: launch.name, pid: leader.pid });
    await endServer(launch, leader, processes);
  }

  async function start(): Promise<void> {
    if (identity !== null && isAlive(identity)) throw new Error(`${launch.name} is running already`);
    const logFrom = sizeOf(launch.logFile);
    const ended = watchForEnd();
    isStarting = true;
    try {
      identity = await launchUnderReaper(reaper, launch);
      await untilReady(surroundings, logFrom, () => ended.hasEnded());
      await surroundings.afterStart?.();
      if (ended.hasEnded()) surroundings.onDeath(lastLogLines(launch.logFile));
    } finally {
      isStarting = false;
      ended.stop();
    }
  }

  /** The end of the process may be told before `spawn` is answered, so it is listened for from before. */
  function watchForEnd(): { hasEnded(): boolean; stop(): void } {
    const endedPids = new Set<number>();
    const stop = reaper.onExit((event) => {
      if (event.key === launch.name) endedPids.add(event.pid);
    });
    return { hasEnded: () => reaper.isGone() || (identity !== null && endedPids.has(identity.pid)), stop };
  }

  async function expectEnd(): Promise<void> {
    await reaper.request({ op: 'expect', key: launch.name, pid: requireRunning().pid });
  }

  function requireRunning(): ProcessIdentity {
    if (identity === null || !isAlive(identity)) throw new LabError('SERVER_DIED', `${launch.name} is not running`, 'start it before it is faulted');
    return identity;
  }

  return { name: launch.name, identity: () => identity, freeze, thaw, kill, start, expectEnd, isRunning: () => Promise.resolve(identity !== null && isAlive(identity)), isFrozen: () => Promise.resolve(processes().length > 0 && processes().every(isStopped)) };
}

/**
 * A crash of the whole server. The postmaster is stopped before it is killed with its backends: a crashing one must not get to restart or
 * to shut them down in order.
 */
async function endServer(launch: ServerLaunch, leader: ProcessIdentity, processes: () => ProcessEntry[]): Promise<void> {
  if (launch.postgresData !== null && signalProcess(leader, 'SIGSTOP')) await until(() => isStopped(leader) || !isAlive(leader), `${launch.name} to stop`);
  await until(() => {
    const left = processes();
    for (const entry of left) signalProcess(entry, 'SIGKILL');
    return left.length === 0;
  }, `${launch.name} to be gone`);
  if (launch.postgresData !== null) removeAbandonedSegments(new Set([leader.pid]));
}

async function launchUnderReaper(reaper: ReaperClient, launch: ServerLaunch): Promise<ProcessIdentity> {
  const { name, command, args, workingFolder, env, user, logFile, postgresData } = launch;
  try {
    return await reaper.request({ op: 'spawn', key: name, command, args, workingFolder, env, user, outputFile: logFile, lifetime: 'stack', postgresData });
  } catch (cause) {
    if (cause instanceof LabError) throw cause;
    throw new LabError('STACK_START_FAILED', `${name} cannot be started: ${cause instanceof Error ? cause.message : String(cause)}`, 'npx seckill-lab doctor', { cause });
  }
}

async function untilReady({ launch, isReady }: ServerSurroundings, logFrom: number, hasEnded: () => boolean): Promise<void> {
  const limit = Date.now() + START_LIMIT_MS;
  while (!(await isReady(logFrom))) {
    if (hasEnded()) throw startFailed(launch, logFrom, 'ended while it was starting');
    if (Date.now() > limit) throw startFailed(launch, logFrom, `was not ready after ${String(START_LIMIT_MS / 1_000)} s`);
    await delay(LOOK_EVERY_MS);
  }
}

function startFailed(launch: ServerLaunch, logFrom: number, what: string): LabError {
  const log = logSince(launch.logFile, logFrom);
  const details = lastLines(log, LAST_LINES);
  if (/address already in use|Address in use/i.test(log)) {
    return new LabError('PORT_IN_USE', `${launch.name} ${what}: another process has taken one of its ports`, 'start again; other ports are chosen', { details });
  }
  return new LabError('STACK_START_FAILED', `${launch.name} ${what}`, 'npx seckill-lab doctor', { details });
}

export function lastLogLines(logFile: string): string[] {
  return lastLines(logSince(logFile, 0), LAST_LINES);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** LabError STACK_GONE when it has not come true within 5 s. */
async function until(isTrue: () => boolean, what: string): Promise<void> {
  const limit = Date.now() + SIGNAL_LIMIT_MS;
  while (!isTrue()) {
    if (Date.now() > limit) throw new LabError('STACK_GONE', `waited ${String(SIGNAL_LIMIT_MS / 1_000)} s in vain for ${what}`, 'look at the process with ps');
    await delay(LOOK_EVERY_MS);
  }
}

/**
 * The warm processes of a warm stack. Each lane has one that carries all roles of a case together and one that generates load; a role that a fault aims at
 * gets a process alone, so that its death or its stop is nobody else's. What is killed is replaced; what ends in good order serves the next case.
 */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { RoleInstance } from '../../domain/roles.js';
import type { RoleExit } from '../../facts/targets.js';
import { forkWarmGenerator, type GeneratorSpawn, type RunningGenerator, type WarmGenerator } from '../../load/generator-client.js';
import type { LoadJob } from '../../load/load-job.js';
import type { RoleBody, RoleBodyOptions } from '../roles/role-body.js';
import { spawnRoleHost, type RoleHost } from '../roles/role-host.js';

export interface LaneWorkers {
  /** Where each role of a case goes: those `alone` into a process each, the others into the lane's. */
  placeRoles(alone: ReadonlySet<RoleInstance>): (options: RoleBodyOptions) => RoleBody;
  startGenerator(job: LoadJob, on: Pick<GeneratorSpawn, 'onProgress'>): Promise<RunningGenerator>;
}

export interface WorkerPool {
  lane(index: number): LaneWorkers;
  /** SIGKILL to all. */
  stop(): Promise<void>;
}

export interface WorkerPoolOptions {
  /** Existing folder for what the processes say on stderr. */
  readonly logDirectory: string;
  readonly lanes: number;
  /** Compiled entry of the processes that carry roles. Default: `role-main.js`. */
  readonly entry?: string;
  /** Puts a process under the care of somebody who outlives the lab. */
  registerPid(pid: number): void;
}

/** A process is renewed after this many roles: whatever a case leaves behind in it stays small. */
const ROLES_PER_PROCESS_MAX = 400;
/** Loaded processes that wait, per lane: the victim of a case and the one that follows it. Loading takes half a second, and several on a busy host. */
const IDLE_PER_LANE = 2;

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { logDirectory } = options;
  const registerPid = (pid: number): void => {
    options.registerPid(pid);
  };
  const entry = options.entry ?? fileURLToPath(new URL('../role-main.js', import.meta.url));
  let stopped = false;
  const all = new Set<RoleHost>();
  const idle: RoleHost[] = [];
  const together = new Map<number, RoleHost>();
  const generators = new Map<number, { readonly process: WarmGenerator; busy: boolean }>();

  const freshHost = (name: string): RoleHost => {
    const host = spawnRoleHost({ entry, logFile: join(logDirectory, `${name}.log`) });
    if (host.pid > 0) registerPid(host.pid);
    all.add(host);
    return host;
  };
  const discard = async (host: RoleHost): Promise<void> => {
    await host.kill();
    all.delete(host);
  };
  const usable = (host: RoleHost): boolean => host.isAlive() && host.carried() < ROLES_PER_PROCESS_MAX;

  /** Only those that wait and those at work alone: what is at work comes back, or is replaced when it dies. */
  let alone = 0;
  const topUp = (): void => {
    while (alone < options.lanes * IDLE_PER_LANE) {
      alone += 1;
      idle.push(freshHost('alone'));
    }
  };
  const discardAlone = async (host: RoleHost): Promise<void> => {
    alone -= 1;
    await discard(host);
    topUp();
  };

  const placeAlone = (body: RoleBodyOptions): RoleBody => {
    // The one that has waited longest has surely loaded its code.
    let host = idle.shift();
    while (host !== undefined && !host.isAlive()) {
      all.delete(host);
      alone -= 1;
      host = idle.shift();
    }
    if (host === undefined) alone += 1;
    const taken = host ?? freshHost('alone');
    return taken.place(body, (exit: RoleExit) => {
      // Whatever did not end in good order may still be moving.
      if (exit.code === 0 && usable(taken)) idle.push(taken);
      else if (!stopped) void discardAlone(taken);
    });
  };
  topUp();

  const hostOfLane = (lane: number): RoleHost => {
    const current = together.get(lane);
    if (current !== undefined && usable(current) && current.roles() === 0) return current;
    if (current !== undefined) void discard(current);
    const host = freshHost(`lane-${String(lane)}`);
    together.set(lane, host);
    return host;
  };

  const generatorOfLane = (lane: number): { readonly process: WarmGenerator; busy: boolean } => {
    const current = generators.get(lane);
    if (current?.process.isAlive() === true && !current.busy) return current;
    void current?.process.kill();
    const logFd = openSync(join(logDirectory, `generator-${String(lane)}.log`), 'a');
    const fresh = { process: forkWarmGenerator({ logFd, onSpawn: registerPid }), busy: false };
    closeSync(logFd);
    generators.set(lane, fresh);
    return fresh;
  };

  return {
    lane: (index) => ({
      placeRoles(alone) {
        const host = hostOfLane(index);
        return (options) => {
          if (alone.has(options.config.instance)) return placeAlone(options);
          return host.place(options, (exit) => {
            // The others in it are of the same case, which is over with this.
            if (exit.code !== 0 && together.get(index) === host) together.delete(index);
            if (exit.code !== 0) void untilEmpty(host).then(() => discard(host));
          });
        };
      },
      async startGenerator(job, on) {
        const generator = generatorOfLane(index);
        generator.busy = true;
        const running = await generator.process.take(job, on);
        return {
          ...running,
          async stop() {
            await running.stop();
            generator.busy = false;
          },
        };
      },
    }),
    async stop() {
      stopped = true;
      await Promise.all([...[...all].map(discard), ...[...generators.values()].map(({ process }) => process.kill())]);
    },
  };
}

/** Bounded by the supervisor, which ends every role of a case within seconds. */
async function untilEmpty(host: RoleHost): Promise<void> {
  while (host.isAlive() && host.roles() > 0) await new Promise((resolve) => setTimeout(resolve, 50));
}

/**
 * A role as the main process of a container of the project's own image. It shares this host's network and process ids, so it finds its stores at
 * the same addresses and is stopped, looked at and proven dead by the same means as a child of the lab.
 *
 * What a child inherits as descriptors becomes: stdin and stderr of the container, its stdout for the lines to the lab, and the folder of
 * logs, in which the file of step counts lies. When the lab dies, the engine closes stdin, by which the role knows; one that is stopped does not, so
 * its process is under the reaper's care like a child. The engine removes the container when it has ended, whoever is left to ask for it.
 */
import { chownSync, createWriteStream } from 'node:fs';
import { basename, dirname } from 'node:path';
import { constants } from 'node:os';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import type { Docker } from '../../stack/containers/engine.js';
import { PART_LABEL, type Labels } from '../../stack/containers/labels.js';
import type { Container } from '../../stack/containers/server-container.js';
import { monoUs } from '../host-clock.js';
import type { RoleInstance } from '../../domain/roles.js';
import type { RoleClock, RoleExit } from '../../facts/targets.js';
import { isAlive, signalProcess, type ProcessIdentity } from '../../stack/local/process-table.js';
import { mainProcessOf } from './container-process.js';
import { readLines } from './json-lines.js';
import { processStat, type ProcessStat } from './process-stat.js';
import { createRoleAnswers, type RoleAnswers } from './role-answers.js';
import type { RoleBody, RoleBodyOptions } from './role-body.js';
import { ROLE_CONFIG_VARIABLE, type LineFromRole, type LineToRole, type RolePlan } from './role-wire.js';

/** User `node` of the image, for a lab that is root: what it writes to has to be his. */
const IMAGE_USER = 1000;
const LAST_LINES_BOUND_MS = 2_000;

export interface RoleImage {
  readonly docker: Docker;
  /** Content address: a tag may be given to another image while the run goes on. */
  readonly image: string;
  readonly labels: Labels;
  /** Puts the process under the care of somebody who outlives the lab. It leads its own process group. */
  readonly registerPid: (pid: number, instance: RoleInstance) => void;
  /** Left out: what the kernel says. */
  readonly mainProcess?: typeof mainProcessOf;
}

type CreateOptions = Parameters<Docker['createContainer']>[0];

function orderOf({ image, labels }: Pick<RoleImage, 'image' | 'labels'>, { config, countsFile }: RoleBodyOptions): CreateOptions {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0) chownSync(countsFile, IMAGE_USER, IMAGE_USER);
  return {
    Image: image,
    Cmd: ['/bin/sh', '-c', `exec 3>&1 1>&2 4<>"/lab/${basename(countsFile)}"; exec node /app/dist/lab/role-main.js`],
    Env: [`${ROLE_CONFIG_VARIABLE}=${JSON.stringify(config)}`],
    User: uid === 0 ? `${String(IMAGE_USER)}:${String(IMAGE_USER)}` : `${String(uid)}:${String(process.getgid?.() ?? uid)}`,
    Labels: { ...labels, [PART_LABEL]: config.instance },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    // The lab asks for health itself, and more often.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: { AutoRemove: true, NetworkMode: 'host', PidMode: 'host', Binds: [`${dirname(countsFile)}:/lab`] },
  };
}

/** The engine reports a signal as 128 and its number. */
function endOf(statusCode: number): Pick<RoleExit, 'code' | 'signal'> {
  const signal = Object.entries(constants.signals).find(([, number]) => statusCode === 128 + number)?.[0] ?? null;
  return { code: signal === null ? statusCode : null, signal };
}

export class RoleContainer implements RoleBody {
  readonly gone: Promise<RoleExit>;
  ready = false;
  deathPlanned = false;
  cpuSeconds = 0;
  readonly #stdin = new PassThrough();
  readonly #answers: RoleAnswers;
  /** Sent while the container had no process yet. */
  readonly #signals: NodeJS.Signals[] = [];
  #process: ProcessIdentity | null = null;
  #isOver = false;

  constructor(image: RoleImage, options: RoleBodyOptions) {
    const { instance } = options.config;
    const lines = new PassThrough();
    readLines(lines, (text) => {
      const line = JSON.parse(text) as LineFromRole;
      if (this.#answers.heard(line)) return;
      this.cpuSeconds = Math.max(this.cpuSeconds, line.cpuUs / 1e6);
      if (line.hit.action === 'kill') this.deathPlanned = true;
      options.onHit(line.hit);
    });
    this.gone = this.#live(image, options, lines)
      .catch((cause: unknown) => ({ code: null, signal: `not started: ${cause instanceof Error ? cause.message : String(cause)}`, monoUs: monoUs() }))
      .then((end) => {
        this.#isOver = true;
        return { instance, pid: this.pid, ...end };
      });
    this.#answers = createRoleAnswers(this);
  }

  get pid(): number {
    return this.#process?.pid ?? -1;
  }

  async #live(image: RoleImage, options: RoleBodyOptions, lines: PassThrough): Promise<Omit<RoleExit, 'instance' | 'pid'>> {
    const container = await image.docker.createContainer(orderOf(image, options));
    const log = createWriteStream(options.logFile, { flags: 'a' });
    try {
      const stream = await container.attach({ stream: true, stdin: true, stdout: true, stderr: true, hijack: true });
      stream.on('error', () => undefined);
      image.docker.modem.demuxStream(stream, lines, log);
      const drained = new Promise<void>((resolve) => stream.once('end', resolve).once('close', resolve));
      const exit = container.wait({ condition: 'next-exit' }) as Promise<{ StatusCode: number }>;
      exit.catch(() => undefined);
      await container.start();
      this.#begun(container.id, await pidOf(container), image, options.config.instance);
      this.#stdin.pipe(stream);
      const { StatusCode } = await exit;
      const seenUs = monoUs();
      // The last line of a killed process is in the engine's hands until its stream ends.
      await Promise.race([drained, delay(LAST_LINES_BOUND_MS, undefined, { ref: false })]);
      await new Promise((resolve) => setImmediate(resolve));
      return { ...endOf(StatusCode), monoUs: seenUs };
    } finally {
      lines.end();
      log.end();
      await container.remove({ force: true, v: true }).catch(() => undefined);
    }
  }

  #begun(containerId: string, pid: number, { registerPid, mainProcess = mainProcessOf }: RoleImage, instance: RoleInstance): void {
    this.#process = mainProcess(containerId, pid);
    if (this.#process === null) return; // it has ended already
    registerPid(pid, instance);
    for (const signal of this.#signals.splice(0)) this.signal(signal);
  }

  /** The number is free as soon as the container has ended, which is heard of later; so it is looked at whose it is now. */
  signal(signal: NodeJS.Signals): void {
    if (this.#isOver) return;
    if (this.#process === null) this.#signals.push(signal);
    else signalProcess(this.#process, signal);
  }

  begin(plan: RolePlan): void {
    this.tell({ kind: 'start', plan });
  }

  tell(line: LineToRole): void {
    this.#stdin.write(`${JSON.stringify(line)}\n`);
  }

  disarm(planId: string, logFile: string): Promise<void> {
    return this.#answers.disarm(planId, logFile);
  }

  clock(): Promise<RoleClock | null> {
    return this.#answers.clock();
  }

  isPaused(): boolean {
    const state = this.#stat()?.state;
    return state === 'T' || state === 't';
  }

  sampleCpu(): void {
    const stat = this.#stat();
    if (stat !== null) this.cpuSeconds = Math.max(this.cpuSeconds, stat.cpuSeconds);
  }

  #stat(): ProcessStat | null {
    return this.#process !== null && isAlive(this.#process) ? processStat(this.#process.pid) : null;
  }
}

/** 0: it has ended, and the engine may have removed it already. */
async function pidOf(container: Container): Promise<number> {
  try {
    return (await container.inspect()).State.Pid;
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 404) return 0;
    throw error;
  }
}

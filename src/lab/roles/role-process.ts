/** One process of a role instance: spawned, told to start with its plan, heard line by line, gone when its exit was seen and its last line was read. */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

import type { RoleConfig } from '../../domain/role-config.js';
import { LabError } from '../../facts/lab-error.js';
import type { RoleClock, RoleExit, StepHit } from '../../facts/targets.js';
import { monoUs } from '../host-clock.js';
import { processStat } from './process-stat.js';
import { ROLE_CONFIG_VARIABLE, type LineFromRole, type LineToRole, type RolePlan } from './role-wire.js';

const CONTROL_BOUND_MS = 5_000;

export interface RoleProcessOptions {
  readonly entry: string;
  readonly config: RoleConfig;
  /** Open descriptors; the caller closes its own copies. */
  readonly logDescriptor: number;
  readonly countsDescriptor: number;
  readonly onHit: (hit: StepHit) => void;
}

export class RoleProcess {
  /** -1 when it could not be spawned. */
  readonly pid: number;
  readonly gone: Promise<RoleExit>;
  /** It was seen healthy once. */
  ready = false;
  /** A step line has announced its death, or the lab has asked for it. */
  deathPlanned = false;
  cpuSeconds = 0;
  readonly #child: ChildProcess;
  readonly #disarmWaiters = new Map<string, () => void>();
  #clockWaiters: ((clock: RoleClock | null) => void)[] = [];

  constructor(options: RoleProcessOptions) {
    this.#child = spawn(process.execPath, [options.entry], {
      // A group of its own: a Ctrl-C at the terminal reaches the lab alone, which then stops the roles in order.
      detached: true,
      stdio: ['pipe', options.logDescriptor, options.logDescriptor, 'pipe', options.countsDescriptor],
      env: { ...process.env, [ROLE_CONFIG_VARIABLE]: JSON.stringify(options.config) },
    });
    this.pid = this.#child.pid ?? -1;
    this.gone = this.#watchEnd(options.config);
    // A write to a role that has just died; its exit tells the story.
    this.#child.stdin?.on('error', () => undefined);
    readLines(this.#child.stdio[3] as Readable, (text) => {
      const line = JSON.parse(text) as LineFromRole;
      if (line.kind === 'disarmed') {
        this.#disarmWaiters.get(line.planId)?.();
        return;
      }
      if (line.kind === 'clock') {
        for (const told of this.#clockWaiters.splice(0)) told({ aheadMs: line.nowMs - Date.now(), reads: line.reads });
        return;
      }
      this.cpuSeconds = Math.max(this.cpuSeconds, line.cpuUs / 1e6);
      if (line.hit.action === 'kill') this.deathPlanned = true;
      options.onHit(line.hit);
    });
  }

  #watchEnd({ instance }: RoleConfig): Promise<RoleExit> {
    const end = new Promise<RoleExit>((resolve) => {
      let seenUs = 0;
      this.#child.once('exit', () => (seenUs = monoUs()));
      this.#child.once('error', (cause) => {
        resolve({ instance, pid: this.pid, code: null, signal: `not started: ${cause.message}`, monoUs: monoUs() });
      });
      // `close` comes after the last line of descriptor 3 was read, so that a killed process's line is known before its death is judged.
      this.#child.once('close', (code, signal) => {
        resolve({ instance, pid: this.pid, code, signal, monoUs: seenUs });
      });
    });
    return end.then((exit) => {
      for (const done of this.#disarmWaiters.values()) done();
      for (const told of this.#clockWaiters.splice(0)) told(null);
      return exit;
    });
  }

  /** Does nothing once the exit was seen, so a reused pid is never hit. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Until then it has loaded its code and waits. */
  begin(plan: RolePlan): void {
    this.tell({ kind: 'start', plan });
  }

  tell(line: LineToRole): void {
    this.#child.stdin?.write(`${JSON.stringify(line)}\n`);
  }

  /** Resolves when the process has confirmed, or is gone. LabError FAULT_NOT_HEALED after 5 s. */
  async disarm(planId: string, logFile: string): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve, reject) => {
      this.#disarmWaiters.set(planId, resolve);
      void this.gone.then(() => {
        resolve();
      });
      timer = setTimeout(() => {
        reject(new LabError('FAULT_NOT_HEALED', `process ${String(this.pid)} did not confirm within ${String(CONTROL_BOUND_MS)} ms that ${planId} is disarmed`, `read ${logFile}`));
      }, CONTROL_BOUND_MS);
      this.tell({ kind: 'disarm', planId });
    }).finally(() => {
      clearTimeout(timer);
    });
  }

  /** Asks the process what time it is; null when it is gone or says nothing within 5 s. */
  async clock(): Promise<RoleClock | null> {
    let timer: NodeJS.Timeout | undefined;
    const told = new Promise<RoleClock | null>((resolve) => {
      this.#clockWaiters.push(resolve);
      timer = setTimeout(() => {
        resolve(null);
      }, CONTROL_BOUND_MS);
      this.tell({ kind: 'tell-clock' });
    });
    return told.finally(() => {
      clearTimeout(timer);
    });
  }

  isPaused(): boolean {
    const state = processStat(this.pid)?.state;
    return state === 'T' || state === 't';
  }

  /** Reads the CPU time so far; what a later death would take with it. */
  sampleCpu(): void {
    const stat = processStat(this.pid);
    if (stat !== null && stat.state !== 'Z') this.cpuSeconds = Math.max(this.cpuSeconds, stat.cpuSeconds);
  }
}

/** Calls back for each full line; a torn last line of a killed process is dropped: its action never began. */
function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('error', () => undefined);
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

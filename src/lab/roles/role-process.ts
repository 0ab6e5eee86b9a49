/** One process of a role instance: spawned, told to start with its plan, heard line by line, gone when its exit was seen and its last line was read. */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';

import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleClock, RoleExit } from '../../facts/targets.js';
import { nodeFlagsOf } from '../../system/node-flags.js';
import { monoUs } from '../host-clock.js';
import { readLines } from './json-lines.js';
import { processStat } from './process-stat.js';
import { createRoleAnswers, type RoleAnswers } from './role-answers.js';
import type { RoleBody, RoleBodyOptions } from './role-body.js';
import { ROLE_CONFIG_VARIABLE, type LineFromRole, type LineToRole, type RolePlan } from './role-wire.js';

export class RoleProcess implements RoleBody {
  readonly pid: number;
  readonly gone: Promise<RoleExit>;
  ready = false;
  deathPlanned = false;
  cpuSeconds = 0;
  readonly #child: ChildProcess;
  readonly #answers: RoleAnswers;

  /** `entry`: compiled `role-main.js`. */
  constructor(entry: string, options: RoleBodyOptions) {
    const log = openSync(options.logFile, 'a');
    const counts = openSync(options.countsFile, 'r+');
    this.#child = spawn(process.execPath, [...nodeFlagsOf(options.config), entry], {
      // A group of its own: a Ctrl-C at the terminal reaches the lab alone, which then stops the roles in order.
      detached: true,
      stdio: ['pipe', log, log, 'pipe', counts],
      env: { ...process.env, [ROLE_CONFIG_VARIABLE]: JSON.stringify(options.config) },
    });
    closeSync(log);
    closeSync(counts);
    this.pid = this.#child.pid ?? -1;
    this.gone = this.#watchEnd(options.config);
    this.#answers = createRoleAnswers(this);
    // A write to a role that has just died; its exit tells the story.
    this.#child.stdin?.on('error', () => undefined);
    readLines(this.#child.stdio[3] as Readable, (text) => {
      const line = JSON.parse(text) as LineFromRole;
      if (this.#answers.heard(line)) return;
      this.cpuSeconds = Math.max(this.cpuSeconds, line.cpuUs / 1e6);
      if (line.hit.action === 'kill') this.deathPlanned = true;
      options.onHit(line.hit);
    });
  }

  #watchEnd({ instance }: RoleConfig): Promise<RoleExit> {
    return new Promise<RoleExit>((resolve) => {
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
  }

  /** A reused pid is never hit. */
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

  disarm(planId: string, logFile: string): Promise<void> {
    return this.#answers.disarm(planId, logFile);
  }

  clock(): Promise<RoleClock | null> {
    return this.#answers.clock();
  }

  isPaused(): boolean {
    const state = processStat(this.pid)?.state;
    return state === 'T' || state === 't';
  }

  sampleCpu(): void {
    const stat = processStat(this.pid);
    if (stat !== null && stat.state !== 'Z') this.cpuSeconds = Math.max(this.cpuSeconds, stat.cpuSeconds);
  }
}

/** A warm process in the hands of the lab: carries roles of one case after another, several at a time or one alone. */
import { spawn, type ChildProcess } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import type { Readable } from 'node:stream';

import type { RoleClock, RoleExit } from '../../facts/targets.js';
import { monoUs } from '../host-clock.js';
import { ROLE_HOST_VARIABLE, type LineFromHost, type LineToHost, type RoleKey } from './host-wire.js';
import { readLines } from './json-lines.js';
import { processStat } from './process-stat.js';
import { createRoleAnswers, type RoleAnswers } from './role-answers.js';
import type { RoleBody, RoleBodyOptions } from './role-body.js';
import type { LineFromRole } from './role-wire.js';

interface HostEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly monoUs: number;
}

export interface RoleHost {
  readonly pid: number;
  isAlive(): boolean;
  /** Roles that have begun and not ended, and roles that will. */
  roles(): number;
  /** How many roles it has carried so far. */
  carried(): number;
  /** A place for a role; `onFree` is told how the role has ended. Code 0: in good order, or it never began. */
  place(options: RoleBodyOptions, onFree: (exit: RoleExit) => void): RoleBody;
  /** SIGKILL. Resolves when its exit was seen. */
  kill(): Promise<void>;
}

export interface HostOptions {
  /** Compiled `role-main.js`. */
  readonly entry: string;
  /** What the process itself says on stderr is appended here. */
  readonly logFile: string;
}

export function spawnRoleHost({ entry, logFile }: HostOptions): RoleHost {
  const log = openSync(logFile, 'a');
  const child: ChildProcess = spawn(process.execPath, [entry], { detached: true, stdio: ['pipe', log, log, 'pipe'], env: { ...process.env, [ROLE_HOST_VARIABLE]: '1' } });
  closeSync(log);
  child.stdin?.on('error', () => undefined);
  const listeners = new Map<RoleKey, (line: LineFromHost) => void>();
  let alive = child.pid !== undefined;
  let keys = 0;
  const end = watchEnd(child).then((seen) => {
    alive = false;
    return seen;
  });
  readLines(child.stdio[3] as Readable, (text) => {
    const line = JSON.parse(text) as LineFromHost;
    listeners.get(line.key)?.(line);
  });
  const tell = (line: LineToHost): void => {
    if (alive) child.stdin?.write(`${JSON.stringify(line)}\n`);
  };

  return {
    pid: child.pid ?? -1,
    isAlive: () => alive,
    roles: () => listeners.size,
    carried: () => keys,
    place(options, onFree) {
      keys += 1;
      const key = keys;
      const body = new HostedRole(key, options, { child, tell, end });
      listeners.set(key, (line) => {
        body.heard(line);
      });
      void body.gone.then((exit) => {
        listeners.delete(key);
        onFree(exit);
      });
      return body;
    },
    async kill() {
      child.kill('SIGKILL');
      await end;
    },
  };
}

/** `close` comes after the last line of descriptor 3 was read. */
function watchEnd(child: ChildProcess): Promise<HostEnd> {
  return new Promise((resolve) => {
    let seenUs = 0;
    child.once('exit', () => (seenUs = monoUs()));
    child.once('error', (cause) => {
      resolve({ code: null, signal: `not started: ${cause.message}`, monoUs: monoUs() });
    });
    child.once('close', (code, signal) => {
      resolve({ code, signal, monoUs: seenUs });
    });
  });
}

interface Host {
  readonly child: ChildProcess;
  readonly end: Promise<HostEnd>;
  tell(line: LineToHost): void;
}

class HostedRole implements RoleBody {
  readonly pid: number;
  readonly gone: Promise<RoleExit>;
  ready = false;
  deathPlanned = false;
  /** The process carries others too, now or before: its time is nobody's. */
  readonly cpuSeconds = 0;
  readonly #key: RoleKey;
  readonly #options: RoleBodyOptions;
  readonly #host: Host;
  readonly #answers: RoleAnswers;
  #begun = false;
  #ended: (code: number) => void = () => undefined;

  constructor(key: RoleKey, options: RoleBodyOptions, host: Host) {
    this.#key = key;
    this.#options = options;
    this.#host = host;
    this.pid = host.child.pid ?? -1;
    const { instance } = options.config;
    const ownEnd = new Promise<HostEnd>((resolve) => {
      this.#ended = (code) => {
        resolve({ code, signal: null, monoUs: monoUs() });
      };
    });
    this.gone = Promise.race([ownEnd, host.end]).then((end) => ({ instance, pid: this.pid, ...end }));
    this.#answers = createRoleAnswers(this);
  }

  heard(line: LineFromHost): void {
    if (line.kind === 'ended') this.#ended(line.code);
    else this.#heardRole(line.line);
  }

  #heardRole(line: LineFromRole): void {
    if (this.#answers.heard(line)) return;
    if (line.hit.action === 'kill') this.deathPlanned = true;
    this.#options.onHit(line.hit);
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGTERM') {
      if (this.#begun) this.#host.tell({ kind: 'stop', key: this.#key });
      else this.#ended(0);
    } else if (signal === 'SIGKILL' && !this.#begun) {
      // It has only held a place; the process is kept for others.
      this.#ended(0);
    } else {
      this.#host.child.kill(signal);
    }
  }

  begin(plan: Parameters<RoleBody['begin']>[0]): void {
    const { config, logFile, countsFile } = this.#options;
    this.#begun = true;
    this.#host.tell({ kind: 'start', key: this.#key, config, plan, logFile, countsFile });
  }

  tell(line: Parameters<RoleBody['tell']>[0]): void {
    if (line.kind === 'start') this.begin(line.plan);
    else this.#host.tell({ kind: 'tell', key: this.#key, line });
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
    // See cpuSeconds.
  }
}

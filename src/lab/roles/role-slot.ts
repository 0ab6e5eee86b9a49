/**
 * One role instance over all the processes it has in a run: starts the next one after a planned death, and calls any other death what it is.
 */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleInstance } from '../../domain/roles.js';
import { STEP_NAMES, type StepName } from '../../domain/steps.js';
import { LabError } from '../../facts/lab-error.js';
import type { LabEventListener } from '../../facts/lab-event.js';
import type { RoleClock, RoleExit, RoleTarget, StepHit, StepPlan } from '../../facts/targets.js';
import { monoUs } from '../host-clock.js';
import { lastLines } from './log-tail.js';
import { askRole, parseMetrics } from './role-http.js';
import type { RoleBody, RoleBodyOptions } from './role-body.js';
import { RoleProcess } from './role-process.js';
import { readStepCounts } from './step-counts.js';

export interface RoleSpec {
  readonly config: RoleConfig;
  readonly plans: readonly StepPlan[];
  readonly mutant: string | null;
  readonly clockSkewMs: number;
}

export interface SlotSurroundings {
  /** Compiled `role-main.js`. */
  readonly entry: string;
  /** Logs and step counts go here; made when missing. */
  readonly logDirectory: string;
  readonly emit: LabEventListener;
  /** Puts every new process under the care of somebody who outlives the lab. It leads its own process group. */
  readonly registerPid: (pid: number, instance: RoleInstance) => void;
  /** Where a role gets its place. Left out: in a new process of its own. Who gives another place also has it registered. */
  readonly place?: (options: RoleBodyOptions) => RoleBody;
  /** Once per slot at most. */
  readonly onUnplannedDeath: (error: LabError) => void;
}

const HEALTH_ASK_MS = 1_000;
const HEALTH_EVERY_MS = 40;
/** The role promises to stop within 5 s. */
const STOP_BOUND_MS = 6_000;
const LOG_LINES_TOLD = 15;

export class RoleSlot implements RoleTarget {
  readonly instance: RoleInstance;
  readonly logFile: string;
  readonly #spec: RoleSpec;
  readonly #around: SlotSurroundings;
  readonly #countsFile: string;
  readonly #counts: number;
  readonly #hits: StepHit[] = [];
  readonly #exits: RoleExit[] = [];
  readonly #disarmed = new Set<string>();
  /** From the end on, when the file is closed. */
  #lastCounts: Readonly<Partial<Record<StepName, number>>> | null = null;
  #current: RoleBody | null = null;
  /** Loaded and waiting, while planned kills are to come: Node takes half a second to load a role, and several on a busy host. */
  #spare: RoleBody | null = null;
  #starts = 0;
  #cpuOfTheDead = 0;
  #stopping = false;
  #everReady = false;

  constructor(spec: RoleSpec, around: SlotSurroundings) {
    this.instance = spec.config.instance;
    this.#spec = spec;
    this.#around = around;
    mkdirSync(around.logDirectory, { recursive: true });
    this.logFile = join(around.logDirectory, `${this.instance}.log`);
    this.#countsFile = join(around.logDirectory, `${this.instance}.steps`);
    this.#counts = openSync(this.#countsFile, 'w+');
    writeSync(this.#counts, new Float64Array(STEP_NAMES.length));
  }

  /** Starts the spare process or a new one; `isReady` says when it is. */
  start(): void {
    const current = this.#spare ?? this.#spawn();
    this.#spare = null;
    this.#current = current;
    this.#starts += 1;
    current.begin({
      plans: this.#spec.plans.filter(({ id }) => !this.#disarmed.has(id)),
      hitsSoFar: this.stepCounts(),
      actionsSoFar: this.#actionsSoFar(),
      mutant: this.#spec.mutant,
      clockSkewMs: this.#spec.clockSkewMs,
    });
    this.#say('started', `process ${String(current.pid)}${this.#starts === 1 ? '' : `, start ${String(this.#starts)}`}`);
    void this.#announceReady(current);
    // The first time all roles load at once; its spare comes when it is ready.
    if (this.#starts > 1) this.#keepSpare();
  }

  #spawn(): RoleBody {
    const options: RoleBodyOptions = { config: this.#spec.config, logFile: this.logFile, countsFile: this.#countsFile, onHit: (hit) => void this.#hits.push(hit) };
    const spawned = this.#around.place?.(options) ?? this.#spawnProcess(options);
    void spawned.gone.then((exit) => {
      if (spawned === this.#spare) this.#spare = null;
      else this.#afterDeath(spawned, exit);
    });
    return spawned;
  }

  #spawnProcess(options: RoleBodyOptions): RoleBody {
    const spawned = new RoleProcess(this.#around.entry, options);
    if (spawned.pid > 0) this.#around.registerPid(spawned.pid, this.instance);
    return spawned;
  }

  #keepSpare(): void {
    const done = this.#actionsSoFar();
    const killsAhead = this.#spec.plans.some(({ id, action, times }) => action === 'kill' && !this.#disarmed.has(id) && (done[id] ?? 0) < times);
    if (killsAhead && !this.#stopping) this.#spare ??= this.#spawn();
  }

  #afterDeath(dead: RoleBody, exit: RoleExit): void {
    this.#exits.push(exit);
    this.#cpuOfTheDead += dead.cpuSeconds;
    this.#current = null;
    const how = exit.signal ?? `exit code ${String(exit.code)}`;
    const planned = dead.deathPlanned && exit.signal === 'SIGKILL';
    this.#say('exited', `process ${String(exit.pid)}: ${how}${planned ? ', as planned' : ''}`);
    if (this.#stopping) return;
    if (planned) {
      this.start();
      return;
    }
    const code = this.#everReady ? 'ROLE_DIED' : 'ROLE_START_FAILED';
    this.#around.onUnplannedDeath(new LabError(code, `${this.instance} ended with ${how} and nobody had asked it to`, `read ${this.logFile}`, { details: lastLines(this.logFile, LOG_LINES_TOLD) }));
  }

  async #announceReady(asked: RoleBody): Promise<void> {
    while (this.#current === asked && !this.#stopping) {
      const healthy = (await askRole(this.#spec.config.listen, '/healthz', HEALTH_ASK_MS))?.status === 200;
      if (healthy && this.#current === asked) {
        asked.ready = true;
        this.#everReady = true;
        this.#say('ready', `process ${String(asked.pid)}`);
        this.#keepSpare();
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, HEALTH_EVERY_MS));
    }
  }

  /** The current process has been seen healthy once. */
  isReady(): boolean {
    return this.#current?.ready === true;
  }

  /** What the role itself says is not ready, for a message. */
  async healthProblems(): Promise<string> {
    const reply = await askRole(this.#spec.config.listen, '/healthz', HEALTH_ASK_MS);
    return reply === null ? 'no answer on /healthz' : `/healthz ${String(reply.status)}: ${reply.body.trim().slice(0, 300)}`;
  }

  /** The body of `/metrics`; null when it does not answer. */
  async metricsText(): Promise<string | null> {
    const reply = await askRole(this.#spec.config.listen, '/metrics', 2 * HEALTH_ASK_MS);
    return reply?.status === 200 ? reply.body : null;
  }

  pid(): number | null {
    return this.#current?.pid ?? null;
  }

  async kill(): Promise<void> {
    const victim = this.#current;
    if (victim === null) return;
    victim.sampleCpu();
    victim.deathPlanned = true;
    victim.signal('SIGKILL');
    await victim.gone;
  }

  pause(): Promise<void> {
    if (this.#current === null) return Promise.reject(new LabError('ROLE_DIED', `${this.instance} is not running`, `read ${this.logFile}`));
    this.#current.signal('SIGSTOP');
    return Promise.resolve();
  }

  resume(): Promise<void> {
    this.#current?.signal('SIGCONT');
    return Promise.resolve();
  }

  isPaused(): Promise<boolean> {
    return Promise.resolve(this.#current?.isPaused() === true);
  }

  async isHealthy(): Promise<boolean> {
    return this.isReady() && (await askRole(this.#spec.config.listen, '/healthz', HEALTH_ASK_MS))?.status === 200;
  }

  actionHits(): readonly StepHit[] {
    return this.#hits;
  }

  stepCounts(): Readonly<Partial<Record<StepName, number>>> {
    return this.#lastCounts ?? readStepCounts(this.#counts);
  }

  exits(): readonly RoleExit[] {
    return this.#exits;
  }

  async disarm(planId: string): Promise<void> {
    if (this.#disarmed.has(planId) || !this.#spec.plans.some(({ id }) => id === planId)) return;
    this.#disarmed.add(planId);
    const killsAhead = this.#spec.plans.some(({ id, action }) => action === 'kill' && !this.#disarmed.has(id));
    if (!killsAhead) await this.#endSpare();
    await this.#current?.disarm(planId, this.logFile);
  }

  goOn(hit: StepHit): void {
    if (hit.planId !== null) this.#current?.tell({ kind: 'go-on', planId: hit.planId, hit: hit.hit });
  }

  async metrics(): Promise<Readonly<Record<string, number>>> {
    return parseMetrics((await this.metricsText()) ?? '');
  }

  clock(): Promise<RoleClock | null> {
    return this.#current?.clock() ?? Promise.resolve(null);
  }

  sampleCpu(): void {
    this.#current?.sampleCpu();
  }

  /** User plus system time of all processes of the instance, as of the last samples. */
  cpuSeconds(): number {
    return this.#cpuOfTheDead + (this.#current?.cpuSeconds ?? 0);
  }

  starts(): number {
    return this.#starts;
  }

  /** From now on no process is started again and no death is called unplanned. */
  expectStop(): void {
    this.#stopping = true;
  }

  /** Wakes it, asks it to end, and after 6 s ends it. Problems in words; none when it ended by itself with code 0. Once. */
  async stop(): Promise<readonly string[]> {
    this.expectStop();
    await this.#endSpare();
    const problems = await this.#endCurrent();
    this.#lastCounts = this.stepCounts();
    closeSync(this.#counts);
    return problems;
  }

  async #endCurrent(): Promise<readonly string[]> {
    const last = this.#current;
    if (last === null) return [];
    last.signal('SIGTERM');
    last.signal('SIGCONT');
    const problems: string[] = [];
    const killer = setTimeout(() => {
      problems.push(`${this.instance} did not end within ${String(STOP_BOUND_MS)} ms of SIGTERM and was killed`);
      last.signal('SIGKILL');
    }, STOP_BOUND_MS);
    last.sampleCpu();
    const sampler = setInterval(() => {
      last.sampleCpu();
    }, 50);
    const exit = await last.gone;
    clearTimeout(killer);
    clearInterval(sampler);
    if (problems.length === 0 && exit.code !== 0) problems.push(`${this.instance} ended with ${exit.signal ?? `exit code ${String(exit.code)}`} when asked to stop`);
    return problems;
  }

  /** It has done nothing, so it is simply killed. */
  async #endSpare(): Promise<void> {
    const spare = this.#spare;
    spare?.signal('SIGKILL');
    await spare?.gone;
  }

  #actionsSoFar(): Record<string, number> {
    const done: Record<string, number> = {};
    for (const { planId } of this.#hits) if (planId !== null) done[planId] = (done[planId] ?? 0) + 1;
    return done;
  }

  #say(state: 'started' | 'ready' | 'exited', text: string): void {
    this.#around.emit({ kind: 'role', instance: this.instance, state, text, atUs: monoUs() });
  }
}

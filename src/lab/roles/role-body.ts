/** What a role slot sees of whatever carries its role: a process of its own, or a place in a warm process of a lane. */
import type { RoleConfig } from '../../domain/role-config.js';
import type { RoleClock, RoleExit, StepHit } from '../../facts/targets.js';
import type { LineToRole, RolePlan } from './role-wire.js';

export interface RoleBodyOptions {
  readonly config: RoleConfig;
  /** Existing files: lines are appended to the one, step counts kept in the other. */
  readonly logFile: string;
  readonly countsFile: string;
  /** Called for each step line, before the action it announces can be seen. */
  onHit(hit: StepHit): void;
}

export interface RoleBody {
  /** -1 when it could not be spawned. */
  readonly pid: number;
  /** The end of the role was seen, and its last step line read. Never rejects. */
  readonly gone: Promise<RoleExit>;
  /** It was seen healthy once. */
  ready: boolean;
  /** A step line has announced its death, or the lab has asked for it. */
  deathPlanned: boolean;
  /** User plus system time, as far as it is known to be this role's. */
  readonly cpuSeconds: number;
  /** SIGTERM ends the role in good order; other signals go to the process. Nothing happens once the end was seen. */
  signal(signal: NodeJS.Signals): void;
  /** Until then it does nothing. */
  begin(plan: RolePlan): void;
  tell(line: LineToRole): void;
  /** Resolves when the plan is taken out, or the role is gone. LabError FAULT_NOT_HEALED after 5 s. */
  disarm(planId: string, logFile: string): Promise<void>;
  /** What its clock says; null when it is gone or says nothing within 5 s. */
  clock(): Promise<RoleClock | null>;
  isPaused(): boolean;
  /** Reads the CPU time so far; what a later death would take with it. */
  sampleCpu(): void;
}

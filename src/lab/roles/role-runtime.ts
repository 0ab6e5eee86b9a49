/**
 * The life of a role process under the lab: configuration from the environment, plan from the lab, observer on the inherited descriptors, an end when
 * the lab is gone, a graceful stop on SIGTERM. What the role is, the caller says.
 */
import { writeSync } from 'node:fs';
import type { Readable } from 'node:stream';

import type { Clock } from '../../domain/clock.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { StepObserver } from '../../domain/steps.js';
import type { RunningRole } from '../../system/role.js';
import { createStepPlanObserver } from '../step-plan-observer.js';
import { countedClock } from './counted-clock.js';
import { COUNTS_DESCRIPTOR, LINES_DESCRIPTOR, ROLE_CONFIG_VARIABLE, type LineFromRole, type LineToRole, type RolePlan } from './role-wire.js';
import { createStepCounter } from './step-counts.js';

export interface ComposedUnderLab {
  readonly observer: StepObserver;
  readonly clock: Clock;
  readonly mutant: string | null;
}

export interface ProcessEdges {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Ends the process at once. */
  exit(code: number): void;
}

/** Waits for the plan, then runs until SIGTERM (exit 0), the role's own end (1), a failed start (1) or the end of the lab (1). */
export async function runRoleProcess(compose: (config: RoleConfig, surroundings: ComposedUnderLab) => Promise<RunningRole>, edges: ProcessEdges): Promise<void> {
  const config = JSON.parse(edges.env[ROLE_CONFIG_VARIABLE] ?? 'null') as RoleConfig | null;
  if (config === null) {
    say(null, `${ROLE_CONFIG_VARIABLE} must be set; this entry is started by the lab`);
    edges.exit(1);
    return;
  }
  // Ctrl-C and a closed terminal are for the lab, which stops its roles in order.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const terminated = new Promise<null>((resolve) => {
    process.once('SIGTERM', () => {
      resolve(null);
    });
  });
  const lab = hearLab(edges.stdin, () => {
    // The lab is dead and nobody reads what this role would do from here on: no draining, no farewell.
    edges.exit(1);
  });

  const plan = await Promise.race([lab.plan, terminated]);
  if (plan === null) {
    edges.exit(0);
    return;
  }
  const counter = createStepCounter(COUNTS_DESCRIPTOR, new Set(plan.plans.map(({ step }) => step)), plan.hitsSoFar);
  const observer = createStepPlanObserver(plan, {
    instance: config.instance,
    counter,
    writeLine: (line) => writeSync(LINES_DESCRIPTOR, `${JSON.stringify(line)}\n`),
    signalSelf: (signal) => process.kill(process.pid, signal),
  });
  const clock = countedClock(plan.clockSkewMs);
  lab.onLine((line) => {
    if (line.kind === 'tell-clock') writeSync(LINES_DESCRIPTOR, `${JSON.stringify({ kind: 'clock', ...clock.state() } satisfies LineFromRole)}\n`);
    else observer.told(line);
  });
  const end = (code: number): void => {
    counter.flush();
    edges.exit(code);
  };
  try {
    const role = await compose(config, { observer, clock, mutant: plan.mutant });
    const cause = await Promise.race([terminated, role.fatal]);
    if (cause !== null) throw cause;
    await role.stop();
    end(0);
  } catch (cause) {
    say(config.instance, 'can no longer work', cause);
    end(1);
  }
}

type LaterLine = Exclude<LineToRole, { kind: 'start' }>;

interface Lab {
  readonly plan: Promise<RolePlan>;
  /** From now on; nothing of this kind comes before the plan, and what comes right behind it is kept. */
  onLine(listener: (line: LaterLine) => void): void;
}

function hearLab(stdin: Readable, onEnd: () => void): Lab {
  let rest = '';
  let listener: ((line: LaterLine) => void) | null = null;
  const early: LaterLine[] = [];
  stdin.setEncoding('utf8');
  for (const event of ['end', 'close', 'error'] as const) stdin.once(event, onEnd);
  const plan = new Promise<RolePlan>((resolve) => {
    stdin.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        const line = JSON.parse(text) as LineToRole;
        if (line.kind === 'start') resolve(line.plan);
        else if (listener === null) early.push(line);
        else listener(line);
      }
    });
  });
  return {
    plan,
    onLine(hears) {
      listener = hears;
      for (const line of early.splice(0)) hears(line);
    },
  };
}

/** Same shape as the roles' own log lines. Synchronous: the process may be about to end. */
function say(instance: string | null, text: string, cause?: unknown): void {
  const reason = cause instanceof Error ? (cause.stack ?? cause.message) : cause === undefined ? null : JSON.stringify(cause);
  writeSync(2, `${JSON.stringify({ time: new Date().toISOString(), instance, level: 'error', text, reason })}\n`);
}

/**
 * The inside of a warm process: starts roles as it is told, each with its own observer, log and counts, and ends them in good order. Starting Node and
 * loading the system costs half a second of CPU; hundreds of small cases cannot pay it for each role.
 *
 * A role that cannot go on ends alone and says so. An exception that nobody caught ends the process, as it would end a process of one role: it is written to
 * the log of each role that was in it.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import type { Readable } from 'node:stream';

import type { RoleConfig } from '../../domain/role-config.js';
import { availabilityZone } from '../../system/placement.js';
import { createJsonLog } from '../../system/compose/json-log.js';
import type { RoleOverrides } from '../../system/compose.js';
import { createRoleMetrics } from '../../system/role-metrics.js';
import type { RunningRole } from '../../system/role.js';
import { createStepPlanObserver } from '../step-plan-observer.js';
import { countedClock } from './counted-clock.js';
import type { LineFromHost, LineToHost, RoleKey } from './host-wire.js';
import { readLines } from './json-lines.js';
import type { ComposedUnderLab } from './role-runtime.js';
import { LINES_DESCRIPTOR } from './role-wire.js';
import { createStepCounter } from './step-counts.js';

/** What a hosted role is given besides what every role under the lab gets. */
export type HostedSurroundings = ComposedUnderLab & Pick<RoleOverrides, 'log' | 'metrics'>;

interface Hosted {
  readonly logDescriptor: number;
  told(line: Extract<LineToHost, { kind: 'tell' }>['line']): void;
  stop(): void;
}

/** The system promises to stop within 5 s and gives up then; what took as long may still be moving. */
const STOP_BOUND_MS = 4_900;

/** Never returns but by `exit`: when stdin ends (1), or nobody caught an exception (1). */
export function runRoleHost(
  compose: (config: RoleConfig, surroundings: HostedSurroundings) => Promise<RunningRole>,
  edges: { readonly stdin: Readable; exit(code: number): void },
): void {
  const roles = new Map<RoleKey, Hosted>();
  const say = (line: LineFromHost): void => {
    writeSync(LINES_DESCRIPTOR, `${JSON.stringify(line)}\n`);
  };
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  for (const event of ['end', 'close', 'error'] as const) {
    edges.stdin.once(event, () => {
      edges.exit(1);
    });
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (cause: unknown) => {
      for (const { logDescriptor } of roles.values()) complain(logDescriptor, 'the process dies of what nobody caught', cause);
      edges.exit(1);
    });
  }

  const start = async ({ key, config, plan, logFile, countsFile }: Extract<LineToHost, { kind: 'start' }>): Promise<void> => {
    const logDescriptor = openSync(logFile, 'a');
    const countsDescriptor = openSync(countsFile, 'r+');
    const counter = createStepCounter(countsDescriptor, new Set(plan.plans.map(({ step }) => step)), plan.hitsSoFar);
    const observer = createStepPlanObserver(plan, {
      instance: config.instance,
      counter,
      writeLine: (line) => {
        say({ kind: 'said', key, line });
      },
      signalSelf: (signal) => process.kill(process.pid, signal),
    });
    let stop: () => void = () => undefined;
    const asked = new Promise<null>((resolve) => {
      stop = () => {
        resolve(null);
      };
    });
    const clock = countedClock(plan.clockSkewMs);
    roles.set(key, {
      logDescriptor,
      stop,
      told(line) {
        if (line.kind === 'tell-clock') say({ kind: 'said', key, line: { kind: 'clock', ...clock.state() } });
        else observer.told(line);
      },
    });
    let code: 0 | 1 = 0;
    try {
      const role = await compose(config, {
        observer,
        clock,
        mutant: plan.mutant,
        log: createJsonLog(config.instance, config, { write: (text) => void writeSync(logDescriptor, text) }),
        // Without the figures of the process, which would be the same for all roles in it.
        metrics: createRoleMetrics(config.role, config.instance, { labels: { availability_zone: availabilityZone() } }),
      });
      const cause = await Promise.race([asked, role.fatal]);
      const beganMs = performance.now();
      await role.stop();
      if (cause !== null) throw cause;
      if (performance.now() - beganMs >= STOP_BOUND_MS) throw new Error('it did not stop in time');
    } catch (cause) {
      complain(logDescriptor, 'can no longer work', cause);
      code = 1;
    }
    counter.flush();
    roles.delete(key);
    say({ kind: 'ended', key, code });
    closeSync(countsDescriptor);
    closeSync(logDescriptor);
  };

  readLines(edges.stdin, (text) => {
    const line = JSON.parse(text) as LineToHost;
    if (line.kind === 'start') void start(line);
    else if (line.kind === 'stop') roles.get(line.key)?.stop();
    else roles.get(line.key)?.told(line.line);
  });
}

function complain(descriptor: number, text: string, cause: unknown): void {
  const reason = cause instanceof Error ? (cause.stack ?? cause.message) : JSON.stringify(cause);
  writeSync(descriptor, `${JSON.stringify({ time: new Date().toISOString(), level: 'error', text, reason })}\n`);
}

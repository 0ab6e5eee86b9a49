/** What the lab waits to hear from a role: that a plan is taken out of it, what its clock says. */
import { LabError } from '../../facts/lab-error.js';
import type { RoleClock } from '../../facts/targets.js';
import type { LineFromRole, LineToRole } from './role-wire.js';

const CONTROL_BOUND_MS = 5_000;

export interface RoleAnswers {
  /** True: the line was an answer. False: it is a step line. */
  heard(line: LineFromRole): line is Exclude<LineFromRole, { kind: 'step' }>;
  /** Resolves when the role has confirmed, or is gone. LabError FAULT_NOT_HEALED after 5 s. */
  disarm(planId: string, logFile: string): Promise<void>;
  /** null when it is gone or says nothing within 5 s. */
  clock(): Promise<RoleClock | null>;
}

export function createRoleAnswers(role: { readonly pid: number; readonly gone: Promise<unknown>; tell(line: LineToRole): void }): RoleAnswers {
  const disarmed = new Map<string, () => void>();
  let clocks: ((clock: RoleClock | null) => void)[] = [];
  const gone = role.gone.then(() => null);
  return {
    heard(line): line is Exclude<LineFromRole, { kind: 'step' }> {
      if (line.kind === 'disarmed') disarmed.get(line.planId)?.();
      if (line.kind === 'clock') {
        const waiting = clocks;
        clocks = [];
        for (const told of waiting) told({ aheadMs: line.nowMs - Date.now(), reads: line.reads });
      }
      return line.kind !== 'step';
    },
    async disarm(planId, logFile) {
      const confirmed = new Promise<null>((resolve) => {
        disarmed.set(planId, () => {
          resolve(null);
        });
      });
      role.tell({ kind: 'disarm', planId });
      const answer = await within(CONTROL_BOUND_MS, Promise.race([confirmed, gone]), 'late');
      if (answer === 'late') {
        throw new LabError('FAULT_NOT_HEALED', `process ${String(role.pid)} did not confirm within ${String(CONTROL_BOUND_MS)} ms that ${planId} is disarmed`, `read ${logFile}`);
      }
    },
    clock() {
      const told = new Promise<RoleClock | null>((resolve) => {
        clocks.push(resolve);
      });
      role.tell({ kind: 'tell-clock' });
      return within(CONTROL_BOUND_MS, Promise.race([told, gone]), null);
    },
  };
}

async function within<Answer, Late>(boundMs: number, work: Promise<Answer>, late: Late): Promise<Answer | Late> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<Late>((resolve) => {
    timer = setTimeout(() => {
      resolve(late);
    }, boundMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

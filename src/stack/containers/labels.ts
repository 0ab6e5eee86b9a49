/**
 * What every container, network and volume of the lab carries, so that it is found again exactly: the stack it belongs to, and the process that
 * answers for it. Nothing without these labels is ever touched.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

import { isAlive, readProcess } from '../local/process-table.js';

export const STACK_LABEL = 'seckill-lab.stack';
export const OWNER_LABEL = 'seckill-lab.owner';
/** Which server or role a container is. */
export const PART_LABEL = 'seckill-lab.part';

/** The network that all containers of a stack share. */
export function networkName(stackId: string): string {
  return `seckill-lab-${stackId}`;
}

export type Labels = Readonly<Record<string, string>>;

/** A process, told apart from all others: of other machines, of earlier boots, of other containers, and from one that got its number later. */
export interface OwnerMark {
  readonly host: string;
  readonly boot: string;
  readonly pidSpace: string;
  readonly pid: number;
  readonly startTicks: string;
}

function thisPlace(): Pick<OwnerMark, 'host' | 'boot' | 'pidSpace'> {
  return { host: hostname(), boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), pidSpace: readlinkSync('/proc/self/ns/pid') };
}

/** @param pid a process of this host: the reaper, which lives as long as its stack. */
export function ownerMark(pid: number): OwnerMark {
  return { ...thisPlace(), pid, startTicks: readProcess(pid)?.startTicks ?? '' };
}

export function stackLabels(stackId: string, owner: OwnerMark): Labels {
  return { [STACK_LABEL]: stackId, [OWNER_LABEL]: JSON.stringify(owner) };
}

export type OwnerState = 'alive' | 'dead' | 'elsewhere';

/** elsewhere: of another machine or another container, where nobody here can look. A label that cannot be read is elsewhere too. */
export function ownerState(label: string | undefined, place = thisPlace(), startTicksOf = startTicksOfLiving): OwnerState {
  const mark = readMark(label);
  if (mark === null) return 'elsewhere';
  if (mark.host !== place.host) return 'elsewhere';
  if (mark.boot !== place.boot) return 'dead';
  if (mark.pidSpace !== place.pidSpace) return 'elsewhere';
  return startTicksOf(mark.pid) === mark.startTicks ? 'alive' : 'dead';
}

/** null: it is gone. One that was killed and is not yet waited for has a number still, and answers for nothing; where nobody waits for orphans it stays so. */
function startTicksOfLiving(pid: number): string | null {
  const entry = readProcess(pid);
  return entry !== null && isAlive(entry) ? entry.startTicks : null;
}

/** Anybody can write a label. */
function readMark(label: string | undefined): OwnerMark | null {
  try {
    const mark = JSON.parse(label ?? '') as OwnerMark | string | number | boolean | null;
    return typeof mark === 'object' ? mark : null;
  } catch {
    return null;
  }
}

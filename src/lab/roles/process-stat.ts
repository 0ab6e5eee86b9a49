/** What the kernel says about a process on this host. */
import { readFileSync, readdirSync } from 'node:fs';

/** Linux counts CPU time in ticks of 1/100 s for user space on every architecture Node runs on. */
export const TICKS_PER_SECOND = 100;

export interface ProcessStat {
  /** `R`, `S`, `D`, `T` (stopped), `Z` (dead, not yet waited for), … */
  readonly state: string;
  /** User plus system time. */
  readonly cpuSeconds: number;
  readonly parent: number;
}

/** null: there is no such process. */
export function processStat(pid: number): ProcessStat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
  } catch {
    return null;
  }
  // The name in parentheses may hold blanks and parentheses itself; fields are counted after its end, from `state`.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '?', parent: Number(fields[1]), cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND };
}

/** All living processes that descend from this one. */
export function descendantsOf(pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^[0-9]+$/.test(name) ? processStat(Number(name))?.parent : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  const open = [pid];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const own = children.get(next) ?? [];
    found.push(...own);
    open.push(...own);
  }
  return found;
}

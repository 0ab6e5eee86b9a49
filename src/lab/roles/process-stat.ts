/** What the kernel says about a process on this host. */
import { readFileSync } from 'node:fs';

/** Linux counts CPU time in ticks of 1/100 s for user space on every architecture Node runs on. */
const TICKS_PER_SECOND = 100;

export interface ProcessStat {
  /** `R`, `S`, `D`, `T` (stopped), `Z` (dead, not yet waited for), … */
  readonly state: string;
  /** User plus system time. */
  readonly cpuSeconds: number;
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
  return { state: fields[0] ?? '?', cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND };
}

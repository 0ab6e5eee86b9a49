/** Processor time of a process by the operating system's own accounting. */
import { readdirSync, readFileSync } from 'node:fs';

/** Nanoseconds on a processor, all threads, since the process began (`/proc/<pid>/task/<tid>/schedstat`). Linux only. */
export function cpuNanoseconds(pid: number): number {
  return readdirSync(`/proc/${String(pid)}/task`).reduce((sum, thread) => sum + Number(readFileSync(`/proc/${String(pid)}/task/${thread}/schedstat`, 'utf8').split(' ')[0]), 0);
}

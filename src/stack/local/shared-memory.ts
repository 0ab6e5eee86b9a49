/**
 * System V shared memory that a killed postmaster leaves behind: one small segment, its lock against a second postmaster on the same
 * data. (Its large memory is anonymous and its dynamic segments are files of the data folder, see `postgres-server.ts`, so nothing of
 * it is ever in /dev/shm.) Node has no call for it; `ipcrm` is part of util-linux, which every Linux has.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface SharedMemorySegment {
  readonly id: number;
  readonly creatorPid: number;
  readonly attached: number;
}

/** Parses `/proc/sysvipc/shm`. */
export function parseSharedMemory(text: string): SharedMemorySegment[] {
  const [header, ...lines] = text.trimEnd().split('\n');
  const columns = header?.trim().split(/\s+/) ?? [];
  const column = (fields: readonly string[], name: string): number => Number(fields[columns.indexOf(name)]);
  return lines.map((line) => {
    const fields = line.trim().split(/\s+/);
    return { id: column(fields, 'shmid'), creatorPid: column(fields, 'cpid'), attached: column(fields, 'nattch') };
  });
}

/** Segments made by one of these processes that nobody is attached to any more. */
export function abandonedSegments(creatorPids: ReadonlySet<number>): SharedMemorySegment[] {
  let text: string;
  try {
    text = readFileSync('/proc/sysvipc/shm', 'utf8');
  } catch {
    return []; // a kernel without System V memory
  }
  return parseSharedMemory(text).filter((segment) => creatorPids.has(segment.creatorPid) && segment.attached === 0);
}

/** Removes them; returns what could not be removed, in words. */
export function removeAbandonedSegments(creatorPids: ReadonlySet<number>): string[] {
  const problems: string[] = [];
  for (const segment of abandonedSegments(creatorPids)) {
    try {
      execFileSync('ipcrm', ['-m', String(segment.id)], { stdio: 'ignore' });
    } catch {
      // Another sweep may have been faster; only what is still there is a problem.
      if (abandonedSegments(creatorPids).some((left) => left.id === segment.id)) problems.push(`shared memory segment ${String(segment.id)} could not be removed`);
    }
  }
  return problems;
}

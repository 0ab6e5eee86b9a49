/** The last lines of a log file, for a message that says why a process died. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_BYTES = 16_384;

/** Up to `lines` last lines; empty when there is no file. */
export function lastLines(file: string, lines: number): string[] {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return [];
  }
  try {
    const size = fstatSync(descriptor).size;
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8').split('\n').filter((line) => line !== '').slice(-lines);
  } finally {
    closeSync(descriptor);
  }
}

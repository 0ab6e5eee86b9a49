/**
 * Starts a process that the lab must start itself (it holds its pipes) and that must still die with the lab: roles, the generator.
 *
 * The process waits at a gate, a pipe of which the lab holds the other end, until the reaper has it in its care. A lab that dies before
 * opens no gate: the waiting shell reads the end of the pipe and leaves. Costs one `sh` (about 1 ms); `exec` keeps pid and start time.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import type { Writable } from 'node:stream';

import type { ReaperClient } from './reaper-client.js';

export interface GatedSpawnOptions {
  readonly cwd?: string;
  /** The whole environment; absent: the lab's. */
  readonly env?: Readonly<Record<string, string>>;
  /** As in node:child_process, at most 9 entries; absent: stdin and stdout ignored, stderr inherited. */
  readonly stdio?: readonly ('pipe' | 'ignore' | 'inherit' | 'ipc' | number)[];
}

let counter = 0;

/**
 * Resolves with the process once it is in the reaper's care and on its way into `command`. It leads a process group of its own, so a
 * Ctrl-C at the terminal does not reach it. A command that does not exist ends with exit code 127.
 */
export async function gatedSpawn(reaper: ReaperClient, command: string, args: readonly string[], options: GatedSpawnOptions = {}): Promise<ChildProcess> {
  const stdio = options.stdio ?? ['ignore', 'ignore', 'inherit'];
  const gate = stdio.length;
  // dash knows descriptors of one digit only.
  if (gate < 3 || gate > 9) throw new Error(`stdio must have 3 to 9 entries, not ${String(gate)}`);
  const script = `IFS= read -r go <&${String(gate)} || exit 0; exec ${String(gate)}<&-; exec "$@"`;
  const child = spawn('/bin/sh', ['-c', script, 'gate', command, ...args], {
    detached: true,
    stdio: [...stdio, 'pipe'] as StdioOptions,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: { ...options.env } }),
  });
  const opener = child.stdio[gate] as Writable | null | undefined;
  if (child.pid === undefined || opener === null || opener === undefined) {
    return new Promise((_, reject) => child.once('error', reject));
  }
  opener.on('error', () => undefined); // it died at the gate; its exit says so
  counter += 1;
  try {
    await reaper.request({ op: 'adopt', key: `adopted-${String(process.pid)}-${String(counter)}`, pid: child.pid, lifetime: 'client' });
  } catch (error) {
    opener.destroy();
    throw error;
  }
  opener.end('go\n');
  return child;
}

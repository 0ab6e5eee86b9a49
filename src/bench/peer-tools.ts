/** Programs that a bench measures against or with: where they are, or what gets them; and how they are pinned to one core. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { LabError } from '../facts/lab-error.js';
import { findOnPath, isExecutable } from '../stack/dependencies/search-path.js';

/** The side that serves, and the side that asks. */
export const SERVER_CORE = 0;
export const CLIENT_CORE = 1;

const INSTALLS = {
  wrk: 'apt-get install wrk',
  vegeta: 'go install github.com/tsenart/vegeta/v12@v12.12.0',
  pgbench: 'apt-get install postgresql-contrib, or put the pgbench of any PostgreSQL on PATH',
  taskset: 'apt-get install util-linux',
} as const;

/** LabError MISSING_DEPENDENCY with the command that installs it. */
export function peerTool(name: keyof typeof INSTALLS): string {
  const ofGo = join(process.env['GOPATH'] ?? join(homedir(), 'go'), 'bin', name);
  const found = findOnPath(name) ?? (isExecutable(ofGo) ? ofGo : null);
  if (found === null) throw new LabError('MISSING_DEPENDENCY', `${name} is not installed, and this bench measures with it`, INSTALLS[name]);
  return found;
}

/** The generator goes first where it may, so its peers may too (load/main.ts). */
const priority = (): string => (process.getuid?.() === 0 ? '-10' : '0');

/** On the client's core alone. */
export function spawnPeer(program: string, args: readonly string[], options: { readonly env?: Readonly<Record<string, string>>; readonly input?: string; readonly outputFd?: number } = {}): ChildProcess {
  const child = spawn('nice', ['-n', priority(), peerTool('taskset'), '-c', String(CLIENT_CORE), program, ...args], {
    stdio: [options.input === undefined ? 'ignore' : 'pipe', options.outputFd ?? 'ignore', 'ignore'],
    env: { ...process.env, ...options.env },
  });
  if (options.input !== undefined) child.stdin?.end(options.input);
  return child;
}

/** Every thread that a process has now, and so all that these begin. */
export function pin(pid: number, core: number): void {
  execFileSync(peerTool('taskset'), ['-acp', String(core), String(pid)], { stdio: 'ignore' });
}

/** Ends a process that this bench started, and waits until it is gone. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => {
    resolve();
  }));
  child.kill('SIGKILL');
  await gone;
}

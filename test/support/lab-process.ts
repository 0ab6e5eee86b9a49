/** Spawns the command line as a user would, and looks at what it leaves behind. Needs `npm run build`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { RunVerdict } from '../../src/facts/verdict.js';

export const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
const CLI = join(REPOSITORY, 'dist', 'cli.js');
/** Inherited by everything that a lab of this test process starts, servers included, so that other labs on the machine are not taken for ours. */
const MARK = `SECKILL_LAB_MARK_TEST=${String(process.pid)}-${String(Date.now())}`;
const [MARK_NAME = '', MARK_VALUE = ''] = MARK.split('=');
/** Where our labs put their stacks; PostgreSQL's unprivileged user has to get in. */
const TEMPORARY = mkdtempSync(join(tmpdir(), 'seckill-lab-test-stacks-'));
chmodSync(TEMPORARY, 0o755);

export interface Finished {
  /** null: ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface LabProcess {
  readonly child: ChildProcess;
  readonly done: Promise<Finished>;
  stderr(): string;
  /** Resolves when stderr so far matches; rejects when the process ends before. */
  says(pattern: RegExp): Promise<void>;
}

/** A folder for the reports of one test file. */
export function freshFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `seckill-lab-test-${name}-`));
}

export function startLab(args: readonly string[], options: { readonly env?: NodeJS.ProcessEnv; readonly cli?: string; readonly cwd?: string } = {}): LabProcess {
  const child = spawn(process.execPath, [options.cli ?? CLI, ...args], {
    cwd: options.cwd ?? REPOSITORY,
    env: { ...process.env, CI: 'true', [MARK_NAME]: MARK_VALUE, TMPDIR: TEMPORARY, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const listener of listeners) listener();
  });
  const done = new Promise<Finished>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, stdout, stderr });
    });
  });
  return {
    child,
    done,
    stderr: () => stderr,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(stderr)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
        void done.then(({ code }) => {
          reject(new Error(`ended with ${String(code)} before it said ${String(pattern)}:\n${stderr}`));
        });
      }),
  };
}

export function lab(...args: string[]): Promise<Finished> {
  return startLab(args).done;
}

/** The verdict document that `--json` printed alone on stdout. */
export function verdictOf(finished: Finished): RunVerdict {
  try {
    return JSON.parse(finished.stdout) as RunVerdict;
  } catch {
    throw new Error(`no verdict on stdout (exit ${String(finished.code)}):\n${finished.stdout.slice(0, 2_000)}\n${finished.stderr.slice(-4_000)}`);
  }
}

/** null: gone, or not ours. */
function commandOf(pid: string): string | null {
  try {
    // redis-server writes its title over its environment; its working folder tells it then.
    const isOurs = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(MARK) || readlinkSync(`/proc/${pid}/cwd`).startsWith(TEMPORARY);
    if (!isOurs) return null;
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return null;
  }
}

/** Processes of a lab's: servers, roles, generator, reaper. As `pid command`. */
export function labProcesses(): string[] {
  const ours = /redis-server|kafka\.Kafka|toxiproxy|bin\/postgres|postgres:|role-main\.js|load\/main\.js|reaper-main\.js/;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map((pid) => ({ pid, command: commandOf(pid) }))
    .filter(({ command }) => command !== null && ours.test(command))
    .map(({ pid, command }) => `${pid} ${String(command).slice(0, 160)}`);
}

/** Stack folders of our labs, and shared memory that nobody is attached to: what a killed PostgreSQL would leave. */
function labFiles(): string[] {
  const folders = readdirSync(TEMPORARY).map((name) => join(TEMPORARY, name));
  const shared = readdirSync('/dev/shm').filter((name) => name.startsWith('PostgreSQL')).map((name) => join('/dev/shm', name));
  const segments = readFileSync('/proc/sysvipc/shm', 'utf8').trim().split('\n').slice(1).map((line) => line.trim().split(/\s+/));
  return [...folders, ...shared, ...segments.filter((columns) => columns[6] === '0').map((columns) => `shm ${columns[1] ?? ''}`)];
}

export interface Snapshot {
  readonly processes: readonly string[];
  readonly files: readonly string[];
}

export function snapshot(): Snapshot {
  return { processes: labProcesses(), files: labFiles() };
}

/** What is there now and was not before. */
export function leftSince(before: Snapshot): string[] {
  const now = snapshot();
  return [...now.processes.filter((entry) => !before.processes.includes(entry)), ...now.files.filter((entry) => !before.files.includes(entry))];
}

/** Waits until nothing new is left, at most `boundMs`; answers what is still there. A reaper needs a moment after a SIGKILL of its lab. */
export async function nothingLeftWithin(before: Snapshot, boundMs: number): Promise<string[]> {
  const deadline = Date.now() + boundMs;
  for (;;) {
    const left = leftSince(before);
    if (left.length === 0 || Date.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Pids whose working command matches, among children of the lab's process tree or not. */
export function pidsMatching(pattern: RegExp): number[] {
  return labProcesses().filter((line) => pattern.test(line)).map((line) => Number(line.split(' ')[0]));
}


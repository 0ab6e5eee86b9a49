// A lab in a process of its own, to be killed, and the search for what it left behind.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { builtEntry } from './built-entry.js';
import { blockStarts, ephemeralStart, PORTS_PER_BLOCK, tryListen } from './port-block.js';
import { allProcesses, isAlive, workingFolder } from './process-table.js';
import type { ProcessEntry } from './process-table.js';
import { parseSharedMemory } from './shared-memory.js';

export interface LabProcess {
  /** Its own temporary folder: every folder and process of the stack can be told by it. */
  readonly temporary: string;
  readonly child: ChildProcess;
  /** Everything it printed so far. */
  printed(): string;
  /** Resolves when this text was printed; rejects when the process ended without. */
  waitFor(text: string): Promise<void>;
  kill(): Promise<void>;
  removeTemporary(): void;
}

/** @param body statements that may use `startLocalStack`, `openStack` and `say`. */
export function startLabProcess(body: string, env: Readonly<Record<string, string>> = {}): LabProcess {
  const temporary = mkdtempSync('/tmp/seckill-test-');
  chmodSync(temporary, 0o755);
  const entry = (name: string): string => pathToFileURL(builtEntry(`stack/local/${name}.js`)).href;
  const script = `
    import { startLocalStack } from '${entry('start-local-stack')}';
    import { openStack } from '${entry('../open-stack')}';
    const say = (text) => process.stdout.write(text + '\\n');
    ${body}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, TMPDIR: temporary, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<void>((resolve) => child.once('close', () => { resolve(); }));

  return {
    temporary,
    child,
    printed: () => output,
    waitFor: async (text) => {
      await Promise.race([until(() => output.includes(text)), ended]);
      if (!output.includes(text)) throw new Error(`the lab ended without saying ${text}: ${output}`);
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    removeTemporary: () => { rmSync(temporary, { recursive: true, force: true }); },
  };
}

/** Polls every 5 ms, 30 s at most. */
export async function until(isTrue: () => boolean, limitMs = 30_000): Promise<void> {
  const limit = Date.now() + limitMs;
  while (!isTrue()) {
    if (Date.now() > limit) throw new Error(`not true after ${limitMs} ms: ${isTrue.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Processes that know this folder by environment, command line or working folder: the reaper and every server. */
export function processesOf(folder: string): ProcessEntry[] {
  return allProcesses().filter((entry) => entry.state !== 'Z' && entry.pid !== process.pid && [read(entry.pid, 'environ'), read(entry.pid, 'cmdline'), workingFolder(entry.pid) ?? ''].some((text) => text.includes(folder)));
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

export function foldersIn(folder: string): string[] {
  return readdirSync(folder).map((name) => join(folder, name));
}

/** Segments whose creator is gone, as ids. */
export function orphanedSharedMemory(): number[] {
  const alive = new Set(allProcesses().filter(isAlive).map((entry) => entry.pid));
  return parseSharedMemory(readFileSync('/proc/sysvipc/shm', 'utf8')).filter((segment) => !alive.has(segment.creatorPid)).map((segment) => segment.id);
}

/** First port of a block that no stack holds now, to be given to a lab by SECKILL_LAB_FIRST_PORT. */
export async function freeBlockStart(): Promise<number> {
  for (const start of blockStarts(ephemeralStart()).reverse()) if ((await busyPorts(start)).length === 0) return start;
  throw new Error('no free block');
}

/** Ports of the block that cannot be bound now. */
export async function busyPorts(start: number): Promise<number[]> {
  const busy: number[] = [];
  for (let port = start; port < start + PORTS_PER_BLOCK; port += 1) {
    const server = await tryListen(port);
    if (server === null) busy.push(port);
    else await new Promise((resolve) => server.close(resolve));
  }
  return busy;
}

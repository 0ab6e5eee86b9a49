/**
 * Where things for the cache are made: commands run under a reaper, in scratch folders that are renamed into place when they are whole.
 * A killed install or start so leaves neither a process nor a half-made folder.
 */
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { LabError } from '../facts/lab-error.js';
import type { ExitEvent } from './local/reaper-protocol.js';
import type { ReaperClient } from './local/reaper-client.js';

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly user?: { readonly uid: number; readonly gid: number } | null;
  readonly workingFolder?: string;
}

export interface Workshop {
  readonly cache: string;
  note(text: string): void;
  /** A new empty folder inside the cache, removed at the end of the reaper unless it was moved away. */
  scratch(): Promise<string>;
  /** Runs to the end and returns what it printed. LabError INSTALL_FAILED with its last lines when it fails. */
  run(command: string, args: readonly string[], options?: CommandOptions): Promise<string>;
  /** Moves a finished folder or file to its place in the cache; one that is there already wins. */
  publish(from: string, to: string): Promise<void>;
}

let counter = 0;

export function openWorkshop(reaper: ReaperClient, cache: string, note: (text: string) => void): Workshop {
  async function scratch(): Promise<string> {
    counter += 1;
    const folder = join(cache, `making-${String(process.pid)}-${String(counter)}-${Date.now().toString(36)}`);
    await reaper.request({ op: 'temporary', path: folder });
    await mkdir(folder);
    await chmod(folder, 0o755); // whatever the umask: PostgreSQL's user works in here
    return folder;
  }

  async function run(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
    const folder = await scratch();
    const outputFile = join(folder, 'output');
    await (await open(outputFile, 'w')).close();
    const exit = await runToEnd(reaper, outputFile, command, args, options);
    const output = await readFile(outputFile, 'utf8');
    await rm(folder, { recursive: true, force: true });
    if (exit.code === 0) return output;
    const how = exit.signal === null ? `exit code ${String(exit.code)}` : `signal ${exit.signal}`;
    throw new LabError('INSTALL_FAILED', `${command} failed (${how})`, 'mend what it says below and run the command again', { details: lastLines(output, 12) });
  }

  return {
    cache,
    note,
    scratch,
    run,
    publish: async (from, to) => {
      try {
        await rename(from, to);
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code;
        if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
        await rm(from, { recursive: true, force: true });
      }
    },
  };
}

async function runToEnd(reaper: ReaperClient, outputFile: string, command: string, args: readonly string[], options: CommandOptions): Promise<ExitEvent> {
  counter += 1;
  const key = `command-${String(process.pid)}-${String(counter)}`;
  return new Promise((resolve, reject) => {
    const stopListening = reaper.onExit((event) => {
      if (event.key !== key) return;
      stopListening();
      resolve(event);
    });
    reaper.onGone(() => {
      reject(new LabError('STACK_GONE', `the process that ran ${command} is gone`, 'run the command again'));
    });
    reaper
      .request({
        op: 'spawn',
        key,
        command,
        args,
        workingFolder: options.workingFolder ?? '/',
        env: options.env ?? plainEnvironment(),
        user: options.user ?? null,
        outputFile,
        lifetime: 'client',
        postgresData: null,
      })
      .catch((cause: unknown) => {
        stopListening();
        reject(cause instanceof Error ? cause : new Error(String(cause)));
      });
  });
}

/** The lab's environment without holes. */
export function plainEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const entries = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(entries), ...extra };
}

/** The last lines of a text that say something. */
export function lastLines(text: string, count: number): string[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count);
}

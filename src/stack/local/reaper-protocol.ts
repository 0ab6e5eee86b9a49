/**
 * What a lab and its reaper say to each other: one JSON document a line, over the reaper's stdin and stdout for the lab that started it,
 * over the socket `reaper.sock` in the stack's folder for every later one (`run --stack-file`, `down`).
 */
import type { Readable } from 'node:stream';

/**
 * stack: lives as long as the stack. client: lives as long as the connection that asked for it, such as role processes, which must not
 * survive their lab on a stack that was started by `up`.
 */
export type Lifetime = 'stack' | 'client';

export interface SpawnRequest {
  readonly op: 'spawn';
  readonly key: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly workingFolder: string;
  readonly env: Readonly<Record<string, string>>;
  /** Another user to run it as; null: the reaper's own. */
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** stdout and stderr are appended here. */
  readonly outputFile: string;
  readonly lifetime: Lifetime;
  readonly postgresData: string | null;
}

export type ReaperRequest =
  /** Makes the stack's folder under `parentFolder`, takes ports and listens on the socket. Once, by the owner. */
  | { readonly op: 'open'; readonly parentFolder: string; readonly portsNeeded: number; readonly fixedStart: number | null; readonly forOtherUsers: boolean }
  | SpawnRequest
  /** Takes a process that the lab started itself under its care. It leads a process group. */
  | { readonly op: 'adopt'; readonly key: string; readonly pid: number; readonly lifetime: Lifetime }
  /** The process of this key is about to be ended on purpose: its end is no death to anybody. */
  | { readonly op: 'expect'; readonly key: string; readonly pid: number }
  /** Removes this path at the end, if it is still there. */
  | { readonly op: 'temporary'; readonly path: string }
  /** Runs this program at the end, when the processes are gone; null: no longer. What is left elsewhere, in a container engine, goes by it. */
  | { readonly op: 'at-end'; readonly program: { readonly command: string; readonly args: readonly string[] } | null }
  | { readonly op: 'list' }
  /** From now on the stack outlives the connection of its owner. */
  | { readonly op: 'stay' }
  /** Ends everything, answers, exits. */
  | { readonly op: 'end' };

export interface OpenAnswer {
  readonly directory: string;
  readonly ports: readonly number[];
}

export interface SpawnAnswer {
  readonly pid: number;
  readonly startTicks: string;
}

export interface ListedProcess extends SpawnAnswer {
  readonly key: string;
  readonly postgresData: string | null;
}

export interface ListAnswer {
  readonly processes: readonly ListedProcess[];
}

export interface EndAnswer {
  readonly problems: readonly string[];
}

export interface ExitEvent {
  readonly event: 'exit';
  readonly key: string;
  readonly pid: number;
  readonly code: number | null;
  readonly signal: string | null;
  /** Announced by a lab before. */
  readonly expected: boolean;
}

/** Told to every lab: one of them may have started a server again that another has in hand too. */
export interface StartedEvent extends SpawnAnswer {
  readonly event: 'started';
  readonly key: string;
}

export type ReaperMessage =
  | { readonly answer: number; readonly value: OpenAnswer | SpawnAnswer | ListAnswer | EndAnswer | Record<string, never> }
  | { readonly answer: number; readonly error: string }
  | ExitEvent
  | StartedEvent;

export const REAPER_SOCKET = 'reaper.sock';
/** One line per process the reaper ever had in its care, for a `down` after the reaper itself was killed. */
export const REAPER_JOURNAL = 'processes.ndjson';

/** Calls back for each full line; a rest without line end at the end of the stream is no message and is dropped. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

/** The lab's end of the talk with its reaper: requests with answers, and word of every process that ended. */
import { spawn } from 'node:child_process';
import { createConnection } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';

import { LabError } from '../../facts/lab-error.js';
import { builtEntry } from './built-entry.js';
import { readLines } from './reaper-protocol.js';
import type { EndAnswer, ExitEvent, ListAnswer, OpenAnswer, ReaperMessage, ReaperRequest, SpawnAnswer, StartedEvent } from './reaper-protocol.js';

/** What comes back for each request. */
interface Answers {
  open: OpenAnswer;
  spawn: SpawnAnswer;
  adopt: SpawnAnswer;
  expect: Record<string, never>;
  temporary: Record<string, never>;
  'at-end': Record<string, never>;
  list: ListAnswer;
  stay: Record<string, never>;
  end: EndAnswer;
}

export interface ReaperClient {
  readonly pid: number | null;
  /** Rejects with LabError STACK_GONE when the reaper is gone, with a plain Error when it refuses. */
  request<R extends ReaperRequest>(request: R): Promise<Answers[R['op']]>;
  /** Hears of every process of the stack that ends; returns a function that stops listening. */
  onExit(listener: (event: ExitEvent) => void): () => void;
  /** Hears of every process that the reaper starts, for whichever lab. */
  onStarted(listener: (event: StartedEvent) => void): void;
  /** True from the moment the connection is lost. */
  isGone(): boolean;
  /** Calls back when the connection is lost without having been released. */
  onGone(listener: () => void): void;
  /** Resolves when the reaper process itself is gone (owner) or the connection is closed (later lab). */
  waitUntilGone(): Promise<void>;
  /** Lets go without ending the stack (after `stay`, or a later lab). Ends what this connection alone kept alive. */
  release(): void;
}

/** Starts a reaper of one's own. Memory is bounded: it must not count among the servers it looks after. */
export function launchReaper(label: string): ReaperClient {
  const child = spawn(process.execPath, ['--max-old-space-size=48', '--max-semi-space-size=1', builtEntry('stack/local/reaper-main.js'), label], {
    // A session of its own, so that a Ctrl-C or a hang-up at the lab's terminal does not reach it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: '/',
  });
  let lastWords = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-2_000)));
  child.on('error', (error) => (lastWords += String(error)));
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.once('error', () => {
      resolve();
    });
  });
  return converse(child.stdout, child.stdin, {
    pid: child.pid ?? null,
    exited,
    lastWords: () => lastWords,
    letGo: () => {
      child.stderr.destroy();
      child.unref();
    },
  });
}

/** Joins the reaper of a running stack. Rejects with LabError STACK_GONE when nobody listens. */
export async function attachReaper(socketPath: string, pid: number | null): Promise<ReaperClient> {
  const socket = createConnection(socketPath);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', (cause) => {
      reject(new LabError('STACK_GONE', 'the stack is not running any more', 'start one with `npx seckill-lab up`', { cause }));
    });
  });
  const exited = new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
  return converse(socket, socket, { pid, exited, lastWords: () => '', letGo: () => undefined });
}

interface Peer {
  readonly pid: number | null;
  readonly exited: Promise<void>;
  lastWords(): string;
  letGo(): void;
}

function converse(input: Readable, output: Writable, peer: Peer): ReaperClient {
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  const exitListeners = new Set<(event: ExitEvent) => void>();
  const startListeners = new Set<(event: StartedEvent) => void>();
  const goneListeners = new Set<() => void>();
  let nextId = 1;
  let gone = false;
  let released = false;
  let ending = false;

  function onLine(line: string): void {
    const message = JSON.parse(line) as ReaperMessage;
    if ('event' in message) {
      // Once the end is asked for, every process ends, and that is no news.
      if (ending) return;
      if (message.event === 'exit') for (const listener of exitListeners) listener(message);
      else for (const listener of startListeners) listener(message);
      return;
    }
    const caller = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('error' in message) caller?.reject(new Error(message.error));
    else caller?.resolve(message.value as never);
  }

  function lose(): void {
    if (gone) return;
    gone = true;
    const lastWords = peer.lastWords();
    for (const caller of waiting.values()) caller.reject(goneError(lastWords));
    waiting.clear();
    if (!released) for (const listener of goneListeners) listener();
  }

  readLines(input, onLine);
  for (const stream of [input, output]) stream.on('error', lose);
  input.once('close', lose);
  void peer.exited.then(lose);

  return {
    pid: peer.pid,
    request: (request) =>
      new Promise((resolve, reject) => {
        if (gone) {
          reject(goneError(peer.lastWords()));
          return;
        }
        if (request.op === 'end') ending = true;
        const id = nextId;
        nextId += 1;
        waiting.set(id, { resolve, reject });
        output.write(`${JSON.stringify({ id, ...request })}\n`);
      }),
    onExit: (listener) => {
      exitListeners.add(listener);
      return () => exitListeners.delete(listener);
    },
    onStarted: (listener) => startListeners.add(listener),
    isGone: () => gone,
    onGone: (listener) => goneListeners.add(listener),
    waitUntilGone: () => Promise.race([peer.exited, delay(20_000, undefined, { ref: false })]).then(() => undefined),
    release: () => {
      released = true;
      peer.letGo();
      output.destroy();
      input.destroy();
    },
  };
}

function goneError(lastWords: string): LabError {
  const details = lastWords.split('\n').filter((line) => line !== '');
  return new LabError('STACK_GONE', 'the process that looks after the stack is gone', 'start the run again', { details });
}

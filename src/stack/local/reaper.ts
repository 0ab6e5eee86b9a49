/**
 * The reaper's work: starts servers on request, knows every process of the stack, and ends all of them when the lab is gone.
 *
 * The reaper is itself the parent of the servers. That closes the window which "the lab starts, then registers" leaves open: a lab that
 * dies before its request is written has no server, one that dies later has a reaper that knows it. Processes which the lab must start
 * itself, because it holds their pipes, wait at a gate until they are adopted (`gated-spawn.ts`).
 */
import { spawn } from 'node:child_process';
import { appendFileSync, chmodSync, closeSync, mkdtempSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

import { takePortBlock } from './port-block.js';
import { allProcesses, readProcess, serverProcesses } from './process-table.js';
import type { ProcessIdentity } from './process-table.js';
import { readLines, REAPER_JOURNAL, REAPER_SOCKET } from './reaper-protocol.js';
import type { EndAnswer, ExitEvent, Lifetime, ListAnswer, OpenAnswer, ReaperRequest, SpawnAnswer, SpawnRequest, StartedEvent } from './reaper-protocol.js';
import { removeAbandonedSegments } from './shared-memory.js';
import { runAtEnd } from './run-at-end.js';
import { endProcesses, removeFolders } from './sweep.js';

interface Client {
  readonly output: Writable;
  readonly isOwner: boolean;
}

interface Ward {
  readonly key: string;
  readonly leader: ProcessIdentity;
  readonly postgresData: string | null;
  readonly lifetime: Lifetime;
  readonly client: Client;
  /** Started by the lab and not by the reaper. */
  readonly adopted: boolean;
}

type Answer = OpenAnswer | SpawnAnswer | ListAnswer | EndAnswer | Record<string, never>;

/** Servers get an environment of their own; only these pass through, so that whoever started a lab can find everything it left running. */
function leftoverMarks(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) => (name.startsWith('SECKILL_LAB_MARK_') && value !== undefined ? [[name, value]] : [])));
}

/**
 * One reaper. `serve` a connection; `end` sweeps once, however often and by whomever it is called.
 * @param onEnded called when everything is gone; the process may exit.
 */
export function createReaper(onEnded: (problems: readonly string[]) => void): { serve(input: Readable, output: Writable, isOwner: boolean): void; end(): Promise<readonly string[]> } {
  const wards = new Map<string, Ward>();
  const clients = new Set<Client>();
  const folders = new Set<string>();
  const expectedEnds = new Set<string>();
  const postmasterPids = new Set<number>();
  let directory: string | null = null;
  let atEnd: Extract<ReaperRequest, { op: 'at-end' }>['program'] = null;
  let sentinel: Server | null = null;
  let staysWithoutOwner = false;
  let ending: Promise<readonly string[]> | null = null;

  async function open(request: Extract<ReaperRequest, { op: 'open' }>): Promise<OpenAnswer> {
    const made = mkdtempSync(join(request.parentFolder, 'seckill-lab-'));
    directory = made;
    folders.add(made);
    // PostgreSQL runs as another user when the lab is root: that user must be able to pass through, and no more.
    chmodSync(made, request.forOtherUsers ? 0o711 : 0o700);
    const block = await takePortBlock(request.portsNeeded, request.fixedStart);
    if (block === null) throw new Error('no free block of ports');
    sentinel = block.sentinel;
    await listenForLaterLabs(join(made, REAPER_SOCKET));
    return { directory: made, ports: block.ports };
  }

  function listenForLaterLabs(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const server = createServer((socket) => {
        serve(socket, socket, false);
      });
      server.once('error', reject);
      server.listen(path, () => {
        chmodSync(path, 0o600);
        resolve();
      });
    });
  }

  function takeCare(ward: Ward): SpawnAnswer {
    wards.set(ward.key, ward);
    if (ward.postgresData !== null) postmasterPids.add(ward.leader.pid);
    if (directory !== null) {
      const line = { key: ward.key, ...ward.leader, postgresData: ward.postgresData };
      appendFileSync(join(directory, REAPER_JOURNAL), `${JSON.stringify(line)}\n`);
    }
    return ward.leader;
  }

  function start(request: SpawnRequest, client: Client): Promise<SpawnAnswer> {
    const output = openSync(request.outputFile, 'a');
    return new Promise((resolve, reject) => {
      const child = spawn(request.command, [...request.args], {
        cwd: request.workingFolder,
        env: { ...leftoverMarks(), ...request.env },
        // A session of its own: a Ctrl-C at the lab's terminal must not reach it, and its group can be signalled as one.
        detached: true,
        stdio: ['ignore', output, output],
        ...(request.user ?? {}),
      });
      closeSync(output);
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        const ended = wards.get(request.key);
        // PostgreSQL's backends may outlive their postmaster: it stays in the list, dead leaders cost the sweep nothing.
        if (ended?.leader.pid === child.pid && request.postgresData === null) wards.delete(request.key);
        broadcast({ event: 'exit', key: request.key, pid: child.pid ?? 0, code, signal, expected: expectedEnds.delete(`${request.key} ${String(child.pid)}`) });
      });
      if (child.pid === undefined) return; // 'error' follows
      const startTicks = readProcess(child.pid)?.startTicks ?? '';
      const { key, postgresData, lifetime } = request;
      broadcast({ event: 'started', key, pid: child.pid, startTicks });
      resolve(takeCare({ key, leader: { pid: child.pid, startTicks }, postgresData, lifetime, client, adopted: false }));
    });
  }

  function adopt(request: Extract<ReaperRequest, { op: 'adopt' }>, client: Client): SpawnAnswer {
    const entry = readProcess(request.pid);
    if (entry === null) throw new Error(`there is no process ${String(request.pid)}`);
    forgetTheDead();
    return takeCare({ key: request.key, leader: entry, postgresData: null, lifetime: request.lifetime, client, adopted: true });
  }

  /** The reaper does not hear of the end of what it did not start; a run with many killed roles would fill the list. */
  function forgetTheDead(): void {
    const snapshot = allProcesses();
    for (const ward of wards.values()) {
      if (ward.adopted && serverProcesses(ward.leader, null, snapshot).length === 0) wards.delete(ward.key);
    }
  }

  function list(): ListAnswer {
    return { processes: [...wards.values()].map((ward) => ({ key: ward.key, pid: ward.leader.pid, startTicks: ward.leader.startTicks, postgresData: ward.postgresData })) };
  }

  async function handle(request: ReaperRequest, client: Client): Promise<Answer> {
    if (ending !== null && request.op !== 'end') throw new Error('the stack is ending');
    switch (request.op) {
      case 'open':
        return open(request);
      case 'spawn':
        return start(request, client);
      case 'adopt':
        return adopt(request, client);
      case 'expect':
        expectedEnds.add(`${request.key} ${String(request.pid)}`);
        return {};
      case 'temporary':
        folders.add(request.path);
        return {};
      case 'at-end':
        atEnd = request.program;
        return {};
      case 'list':
        return list();
      case 'stay':
        staysWithoutOwner = true;
        return {};
      case 'end':
        return { problems: await end() };
    }
  }

  function send(client: Client, message: unknown): void {
    if (client.output.writable) client.output.write(`${JSON.stringify(message)}\n`);
  }

  function broadcast(event: ExitEvent | StartedEvent): void {
    for (const client of clients) send(client, event);
  }

  function serve(input: Readable, output: Writable, isOwner: boolean): void {
    const client: Client = { output, isOwner };
    clients.add(client);
    // A lab that was killed takes its end of the pipe along; that is what `end` of the input says, so the write error says nothing new.
    output.on('error', () => undefined);
    input.on('error', () => undefined);
    readLines(input, (line) => {
      const { id, ...request } = JSON.parse(line) as ReaperRequest & { id: number };
      handle(request, client).then(
        (value) => {
          send(client, { answer: id, value });
        },
        (error: unknown) => {
          send(client, { answer: id, error: error instanceof Error ? error.message : String(error) });
        },
      );
    });
    // A pipe that ends says `end`, a socket that breaks only `close`; leaving twice does nothing.
    for (const event of ['end', 'close'] as const) input.once(event, () => void leave(client));
  }

  async function leave(client: Client): Promise<void> {
    if (!clients.delete(client)) return;
    if (client.isOwner && !staysWithoutOwner) {
      await end();
      return;
    }
    const left = [...wards.values()].filter((ward) => ward.client === client && ward.lifetime === 'client');
    await endProcesses(left);
    for (const ward of left) if (wards.get(ward.key) === ward) wards.delete(ward.key);
  }

  function end(): Promise<readonly string[]> {
    ending ??= sweepAll();
    return ending;
  }

  async function sweepAll(): Promise<readonly string[]> {
    const problems = await endProcesses([...wards.values()]);
    if (atEnd !== null) problems.push(...(await runAtEnd(atEnd)));
    // Also of postmasters that were killed and replaced during the run.
    problems.push(...removeAbandonedSegments(postmasterPids), ...(await removeFolders(folders)));
    sentinel?.close();
    // Answers to `end` go out in the turn after this promise; the entry exits after them.
    setImmediate(() => {
      onEnded(problems);
    });
    return problems;
  }

  return { serve, end };
}

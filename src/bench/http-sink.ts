/** The bench's side of the sink: a process of its own on the server's core, which can be frozen. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { HostPort } from '../domain/role-config.js';
import { endChild, pin, SERVER_CORE } from './peer-tools.js';
import { cpuNanoseconds } from './process-cpu.js';

export interface SinkCount {
  readonly requests: number;
  /** CLOCK_MONOTONIC. */
  readonly atUs: number;
}

export interface LoadWindow {
  readonly requestsPerSecond: number;
  /** Of the process that asks, by the operating system's accounting. */
  readonly cpuUsPerRequest: number;
  /** Share of the sink's core that it used. */
  readonly sinkUse: number;
}

export interface HttpSink {
  readonly address: HostPort;
  /** What happens between now and `windowMs` later: whatever the process did before, its start too, is out. */
  window(clientPid: number, windowMs: number): Promise<LoadWindow>;
  /** Stops it for so long. */
  freeze(forMs: number): Promise<void>;
  close(): Promise<void>;
}

async function count(child: ChildProcess): Promise<SinkCount> {
  child.send('count');
  const [counted] = (await once(child, 'message')) as [SinkCount];
  return counted;
}

export async function openHttpSink(): Promise<HttpSink> {
  const child = fork(fileURLToPath(new URL('./http-sink-main.js', import.meta.url)), [], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const pid = child.pid ?? 0;
  pin(pid, SERVER_CORE);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    address: { host: '127.0.0.1', port },
    async window(clientPid, windowMs) {
      const before = await count(child);
      const [cpuBefore, sinkBefore] = [cpuNanoseconds(clientPid), cpuNanoseconds(pid)];
      await delay(windowMs);
      const after = await count(child);
      const [cpu, sink] = [cpuNanoseconds(clientPid) - cpuBefore, cpuNanoseconds(pid) - sinkBefore];
      const requests = after.requests - before.requests;
      const us = after.atUs - before.atUs;
      return { requestsPerSecond: (requests * 1e6) / us, cpuUsPerRequest: cpu / 1_000 / requests, sinkUse: sink / 1_000 / us };
    },
    async freeze(forMs) {
      child.kill('SIGSTOP');
      await delay(forMs);
      child.kill('SIGCONT');
    },
    close: () => endChild(child),
  };
}

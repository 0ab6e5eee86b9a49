/**
 * Ports for one stack: a block below the ephemeral range, so that no outgoing connection can sit on one of them, locked by a bound
 * sentinel: whoever holds the first port of a block owns the block, and the kernel frees the lock when its holder dies in any way.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Server } from 'node:net';

export const PORTS_PER_BLOCK = 512;
const LOWEST_PORT = 10_240;
const USUAL_EPHEMERAL_START = 32_768;

export interface PortBlock {
  /** Free at this moment, ascending, without the sentinel. */
  readonly ports: readonly number[];
  readonly sentinel: Server;
}

/** First port of every block of this host, below where the kernel takes its own ports from. */
export function blockStarts(ephemeralStart: number): number[] {
  // A host that gives away nearly all ports leaves no room below; then the usual range is as good as any.
  const end = ephemeralStart >= LOWEST_PORT + 4 * PORTS_PER_BLOCK ? Math.min(ephemeralStart, USUAL_EPHEMERAL_START) : USUAL_EPHEMERAL_START;
  const starts: number[] = [];
  for (let start = LOWEST_PORT; start + PORTS_PER_BLOCK <= end; start += PORTS_PER_BLOCK) starts.push(start);
  return starts;
}

/** Start of the kernel's ephemeral range. */
export function ephemeralStart(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').trim().split(/\s+/)[0]);
  } catch {
    return USUAL_EPHEMERAL_START;
  }
}

/** Binds 127.0.0.1:port; null when something else has it, on this address or on all. */
export function tryListen(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => {
      resolve(null);
    });
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      resolve(server);
    });
  });
}

async function isFree(port: number): Promise<boolean> {
  const server = await tryListen(port);
  if (server === null) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/**
 * Takes a block with at least `needed` free ports. Single ports that a stranger holds are left out.
 * @param fixedStart the only block to try, or null for any; the search then begins at a random one, so that labs started together do
 *   not walk the same path.
 * @returns null when no block could be had.
 */
export async function takePortBlock(needed: number, fixedStart: number | null): Promise<PortBlock | null> {
  const starts = fixedStart === null ? blockStarts(ephemeralStart()) : [fixedStart];
  const offset = Math.floor(Math.random() * starts.length);
  for (let index = 0; index < starts.length; index += 1) {
    const start = starts[(index + offset) % starts.length];
    if (start === undefined) continue;
    const block = await tryBlock(start, needed);
    if (block !== null) return block;
  }
  return null;
}

async function tryBlock(start: number, needed: number): Promise<PortBlock | null> {
  const sentinel = await tryListen(start);
  if (sentinel === null) return null;
  const ports: number[] = [];
  for (let port = start + 1; port < start + PORTS_PER_BLOCK && ports.length < needed; port += 1) {
    if (await isFree(port)) ports.push(port);
  }
  if (ports.length >= needed) return { ports, sentinel };
  await new Promise((resolve) => sentinel.close(resolve));
  return null;
}

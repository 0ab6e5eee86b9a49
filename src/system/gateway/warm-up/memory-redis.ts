/**
 * As much of a Redis server as reserving needs, on a port of its own in this process: whoever is warmed up against it runs the client, its parser and all that follows as
 * they run in the sale, over replies of the same kind. It keeps no record and decides every reservation alike.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import type { HostPort } from '../../../domain/role-config.js';

export interface MemoryRedis {
  readonly address: HostPort;
  /** From now on everything is sold. */
  sellOut(): void;
  close(): void;
}

const bulk = (text: string): string => `$${String(Buffer.byteLength(text))}\r\n${text}\r\n`;
const array = (parts: readonly string[]): string => `*${String(parts.length)}\r\n${parts.join('')}`;
/** Of the reserve script, as the scripts of `lua/` are called: KEYS, then ARGV. */
const RESERVE_KEYS = 5;
const COUNT_ARGUMENT = 3;

/** The commands that are whole in a text, and how many characters they take. */
export function readCommands(text: string): { readonly commands: readonly (readonly string[])[]; readonly length: number } {
  const commands: string[][] = [];
  let length = 0;
  for (;;) {
    const command: string[] = [];
    let at = text.indexOf('\r\n', length);
    if (text[length] !== '*' || at === -1) return { commands, length };
    const parts = Number(text.slice(length + 1, at));
    at += 2;
    for (let part = 0; part < parts; part += 1) {
      const end = text.indexOf('\r\n', at);
      const size = Number(text.slice(at + 1, end));
      if (end === -1 || text.length < end + 4 + size) return { commands, length };
      command.push(text.slice(end + 2, end + 2 + size));
      at = end + 4 + size;
    }
    commands.push(command);
    length = at;
  }
}

class Replies {
  #accepted = 0;
  #soldOut = false;
  readonly #nowMs: number;

  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  sellOut(): void {
    this.#soldOut = true;
  }

  to([name = '', ...args]: readonly string[]): string {
    switch (name.toLowerCase()) {
      case 'evalsha':
      case 'eval':
        return Number(args[1]) === RESERVE_KEYS ? this.#decisions(Number(args[2 + RESERVE_KEYS + COUNT_ARGUMENT])) : array([bulk('OK')]);
      case 'info': return bulk('run_id:0\r\nloading:0\r\n');
      case 'hmget': return array(args.length === 9 ? this.#meta() : ['1', 'open', '0', '1'].map(bulk));
      case 'hscan': return array([bulk('0'), array([])]);
      case 'get': case 'zcard': case 'hlen': return '+QUEUED\r\n';
      case 'exec': return array([bulk('0'), array(['1', 'open', '0', '1'].map(bulk)), ':0\r\n', `:${String(this.#accepted)}\r\n`]);
      default: return '+OK\r\n';
    }
  }

  #meta(): string[] {
    return ['1', String(this.#nowMs - 1_000), String(this.#nowMs + 3_600_000), '1', 'CNY', 'open', '1', '0'].map(bulk);
  }

  #decisions(count: number): string {
    if (!this.#soldOut) this.#accepted += count;
    const decision = bulk(this.#soldOut ? `SOLD_OUT 0 1 0 ${String(this.#accepted)}` : 'RESERVED 1000000');
    return array([bulk('OK'), ...Array.from({ length: count }, () => decision)]);
  }
}

function serve(socket: Socket, replies: Replies): void {
  let rest = '';
  let isMulti = false;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    // One character a byte, so that the sizes of RESP are lengths.
    const { commands, length } = readCommands((rest += chunk.toString('latin1')));
    rest = rest.slice(length);
    socket.write(commands.map((command) => {
      const name = command[0]?.toLowerCase();
      if (name === 'multi') isMulti = true;
      if (name === 'exec') isMulti = false;
      return isMulti && name === 'hmget' ? '+QUEUED\r\n' : replies.to(command);
    }).join(''), 'latin1');
  });
}

export async function openMemoryRedis(nowMs: number): Promise<MemoryRedis> {
  const replies = new Replies(nowMs);
  const sockets = new Set<Socket>();
  const server: Server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    serve(socket, replies);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    sellOut: () => {
      replies.sellOut();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

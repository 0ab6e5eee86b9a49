/**
 * As much of a Redis server as reserving needs, on a port of its own in this process: whoever is warmed up against it runs the client, its parser and all that follows as
 * they run in the sale, over replies of the same kind and cut as a network cuts them. It sells its units to whoever comes first and knows its buyers' requests again; users
 * and payloads it does not compare.
 */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import type { HostPort } from '../../../domain/role-config.js';
import { writerInTwo } from './writer-in-two.js';

export interface MemoryRedis {
  readonly address: HostPort;
  close(): void;
}

const bulk = (text: string): string => `$${String(Buffer.byteLength(text))}\r\n${text}\r\n`;
const array = (parts: readonly string[]): string => `*${String(parts.length)}\r\n${parts.join('')}`;
/** Of the reserve script, as the scripts of `lua/` are called: SHA, number of keys, KEYS, then ARGV. */
const RESERVE_KEYS = 5;
const HEADS_AT = 2 + RESERVE_KEYS + 4;
const RECORDS_AT = HEADS_AT + 1;

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
  #left: number;
  /** By request id, as it was packed. */
  readonly #records = new Map<string, string>();
  readonly #nowMs: number;

  constructor(units: number, nowMs: number) {
    this.#left = units;
    this.#nowMs = nowMs;
  }

  to([name = '', ...args]: readonly string[]): string {
    switch (name.toLowerCase()) {
      case 'evalsha':
      case 'eval':
        return Number(args[1]) === RESERVE_KEYS ? this.#decisions(args[HEADS_AT] ?? '', args[RECORDS_AT] ?? '') : array([bulk('OK')]);
      case 'info': return bulk('run_id:0\r\nloading:0\r\n');
      case 'hmget': return array(args.length === 9 ? this.#meta() : ['1', 'open', '0', '1'].map(bulk));
      case 'hscan': return array([bulk('0'), array([])]);
      case 'get': case 'zcard': case 'hlen': return '+QUEUED\r\n';
      case 'exec': return array([bulk('0'), array(['1', 'open', '0', '1'].map(bulk)), ':0\r\n', `:${String(this.#records.size)}\r\n`]);
      default: return '+OK\r\n';
    }
  }

  #meta(): string[] {
    return ['1', String(this.#nowMs - 1_000), String(this.#nowMs + 3_600_000), '1', 'CNY', 'open', '1', '0'].map(bulk);
  }

  /** `heads`: "requestId userId length …"; `records`: end to end. */
  #decisions(heads: string, records: string): string {
    const words = heads.split(' ');
    const decisions = [bulk('OK')];
    let at = 0;
    for (let word = 0; word + 2 < words.length; word += 3) {
      const length = Number(words[word + 2]);
      decisions.push(bulk(this.#decision(words[word] ?? '', records.slice(at, at + length))));
      at += length;
    }
    return array(decisions);
  }

  #decision(requestId: string, fresh: string): string {
    const record = this.#records.get(requestId);
    if (record !== undefined) return `REPEATED ${String(this.#left)} ${requestId} ${record}`;
    if (this.#left < 1) return `SOLD_OUT 0 1 0 ${String(this.#records.size)}`;
    this.#left -= 1;
    this.#records.set(requestId, fresh);
    return `RESERVED ${String(this.#left)}`;
  }
}

function serve(socket: Socket, replies: Replies): void {
  let rest = '';
  let isMulti = false;
  const write = writerInTwo(socket);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    // One character a byte, so that the sizes of RESP are lengths.
    const { commands, length } = readCommands((rest += chunk.toString('latin1')));
    rest = rest.slice(length);
    write(commands.map((command) => {
      const name = command[0]?.toLowerCase();
      if (name === 'multi') isMulti = true;
      if (name === 'exec') isMulti = false;
      return isMulti && name === 'hmget' ? '+QUEUED\r\n' : replies.to(command);
    }).join(''));
  });
}

export async function openMemoryRedis(units: number, nowMs: number): Promise<MemoryRedis> {
  const replies = new Replies(units, nowMs);
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
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

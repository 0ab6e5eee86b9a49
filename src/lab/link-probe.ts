/** The lab as a client of a link, through its proxy: how long an exchange takes there, as it does for the role whose link it is. */
import { connect, type Socket } from 'node:net';
import pg from 'pg';

import type { HostPort, PostgresAddress } from '../domain/role-config.js';
import type { StoreName } from '../domain/roles.js';
import { LabError } from '../facts/lab-error.js';
import type { LinkProbe } from '../facts/targets.js';

/** How long a store may take for an exchange on a busy machine, beside what the proxy makes of it. */
const PATIENCE_MS = 15_000;
/** In front of the client's name in a request of Kafka's: length, key, version, number, length of the name. */
const KAFKA_HEAD_BYTES = 14;
const API_VERSIONS = 18;
const KAFKA_CLIENT = 'lab-probe'.padEnd(200, '.');

/** Opens a connection that is kept until `end`: what it costs to log in is no part of an exchange. */
export async function openLinkProbe(link: HostPort, store: StoreName, postgres: PostgresAddress): Promise<LinkProbe> {
  const conversation = await OPEN[store](link, postgres);
  return {
    async exchange(bytes, leastMs) {
      const startedMs = performance.now();
      await bounded(conversation.exchange(bytes), leastMs + PATIENCE_MS, `an exchange of ${String(bytes)} B with ${store}`);
      return performance.now() - startedMs;
    },
    closing: (leastMs) => bounded(closingOf(link), leastMs + PATIENCE_MS, `the end of a connection to ${store}`),
    end: () => conversation.end(),
  };
}

interface Conversation {
  /** At least so many bytes there and as many back. */
  exchange(bytes: number): Promise<void>;
  end(): Promise<void>;
}

const OPEN: Readonly<Record<StoreName, (link: HostPort, postgres: PostgresAddress) => Promise<Conversation>>> = { redis: redisConversation, kafka: kafkaConversation, postgres: postgresConversation };

async function redisConversation(link: HostPort): Promise<Conversation> {
  const { socket, take } = await talkingSocket(link);
  return {
    async exchange(bytes) {
      const payload = '.'.repeat(bytes);
      const head = `$${String(bytes)}\r\n`;
      socket.write(`*2\r\n$4\r\nECHO\r\n${head}${payload}\r\n`);
      const answer = (await take((read) => (read.length >= head.length + bytes + 2 || read[0] === 0x2d ? read.length : 0))).toString();
      if (!answer.startsWith(head)) throw new Error(`Redis says ${answer.slice(0, 80).trim()}`);
    },
    end: () => Promise.resolve(void socket.destroy()),
  };
}

async function kafkaConversation(link: HostPort): Promise<Conversation> {
  const { socket, take } = await talkingSocket(link);
  const request = Buffer.alloc(KAFKA_HEAD_BYTES + KAFKA_CLIENT.length);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(API_VERSIONS, 4);
  request.writeInt16BE(KAFKA_CLIENT.length, 12);
  request.write(KAFKA_CLIENT, KAFKA_HEAD_BYTES);
  // An answer is a length and as many bytes.
  const oneAnswer = (): Promise<Buffer> => take((read) => (read.length >= 4 && read.length >= 4 + read.readInt32BE(0) ? 4 + read.readInt32BE(0) : 0));
  const ask = async (times: number): Promise<number> => {
    socket.write(Buffer.concat(Array<Buffer>(times).fill(request)));
    let length = 0;
    for (let left = times; left > 0; left -= 1) length = (await oneAnswer()).length;
    return length;
  };
  const answerBytes = await bounded(ask(1), PATIENCE_MS, 'the first answer of kafka');
  return {
    async exchange(bytes) {
      await ask(Math.ceil(bytes / Math.min(answerBytes, request.length)));
    },
    end: () => Promise.resolve(void socket.destroy()),
  };
}

async function postgresConversation(link: HostPort, { user, password }: PostgresAddress): Promise<Conversation> {
  const client = new pg.Client({ host: link.host, port: link.port, user, password, database: 'postgres', application_name: 'lab-probe', connectionTimeoutMillis: PATIENCE_MS });
  client.on('error', () => undefined);
  await client.connect();
  return {
    async exchange(bytes) {
      await client.query('SELECT $1::text', ['.'.repeat(bytes)]);
    },
    // Not awaited: over a link that is held up it does not end soon.
    end: () => Promise.resolve(void client.end().catch(() => undefined)),
  };
}

interface TalkingSocket {
  readonly socket: Socket;
  /** Waits until `length` of all that was read is above 0 and takes so many bytes. */
  readonly take: (length: (read: Buffer) => number) => Promise<Buffer>;
}

async function talkingSocket(link: HostPort): Promise<TalkingSocket> {
  const socket = connect({ host: link.host, port: link.port, noDelay: true });
  let read = Buffer.alloc(0);
  let broken: Error | null = null;
  let look: () => void = () => undefined;
  socket.on('data', (data) => {
    read = Buffer.concat([read, data]);
    look();
  });
  socket.on('error', (error) => (broken = error));
  socket.on('close', () => {
    broken ??= new Error('the other side has closed the connection');
    look();
  });
  await bounded(new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject)), PATIENCE_MS, `a connection to port ${String(link.port)}`).catch((cause: unknown) => {
    socket.destroy();
    throw cause;
  });
  return {
    socket,
    take: (lengthOf) =>
      new Promise((resolve, reject) => {
        look = () => {
          const length = lengthOf(read);
          if (length > 0) {
            const taken = read.subarray(0, length);
            read = read.subarray(length);
            look = () => undefined;
            resolve(taken);
          } else if (broken !== null) reject(broken);
        };
        look();
      }),
  };
}

/** From our end of a connection to that of the other side: the way there, and the way back. */
function closingOf(link: HostPort): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: link.host, port: link.port, allowHalfOpen: true });
    let endedMs = 0;
    socket.once('connect', () => {
      endedMs = performance.now();
      socket.end();
    });
    socket.resume();
    socket.once('error', reject);
    socket.once('close', () => {
      resolve(performance.now() - endedMs);
    });
    socket.once('end', () => socket.destroy());
  });
}

async function bounded<T>(work: Promise<T>, boundMs: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`not done within ${String(boundMs)} ms`));
    }, boundMs);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } catch (cause) {
    throw new LabError('STACK_GONE', `${what} over a link did not come off: ${cause instanceof Error ? cause.message : String(cause)}`, 'see the log of toxiproxy', { cause });
  } finally {
    clearTimeout(timer);
  }
}

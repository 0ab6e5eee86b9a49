/** The lab's looks at the servers over direct connections, never through a proxy unless the proxy is what is looked at: predictions and proofs of faults rest on them. */
import { open, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import pg from 'pg';
import type { Admin } from 'kafkajs';

import type { Namespace } from '../domain/namespace.js';
import type { HostPort, PostgresAddress } from '../domain/role-config.js';
import { OrderStatus } from '../domain/status-codes.js';
import { LabError } from '../facts/lab-error.js';
import type { ServerName } from '../facts/stack-description.js';
import type { Witness } from '../facts/targets.js';
import { createKafka } from '../system/order-log/kafka-client.js';
import { openLinkProbe } from './link-probe.js';
import { withPostgres } from './store-clients.js';

const ANSWER_BOUND_MS = 1_000;
const OFFSETS_BOUND_MS = 5_000;
/** A connection within one machine is refused in microseconds; a busy engine needs longer to say so. */
const FORWARDER_BOUND_MS = 500;

export interface WitnessAddresses {
  readonly redisPrimary: HostPort;
  readonly postgres: PostgresAddress;
  readonly kafka: HostPort;
}

export interface OpenWitness extends Witness {
  close(): Promise<void>;
}

/**
 * Opens nothing until it is asked.
 * @param ports own: a closed port refuses. forwarded: an engine listens for its containers, accepts, and closes where nobody is behind.
 */
export function openWitness(direct: WitnessAddresses, { ordersTopic, database }: Pick<Namespace, 'ordersTopic' | 'database'>, logFileOf: (server: ServerName) => string | null, ports: 'own' | 'forwarded' = 'own'): OpenWitness {
  const kafka = createKafka({ address: direct.kafka, clientId: 'lab-witness', requestTimeoutMs: 2_000, connectionTimeoutMs: ANSWER_BOUND_MS, retries: 0, onSocket: (socket) => socket.unref() });
  let admin: Promise<Admin> | null = null;
  const connectedAdmin = (): Promise<Admin> => {
    admin ??= (async () => {
      const fresh = kafka.admin();
      await fresh.connect();
      return fresh;
    })();
    return admin;
  };
  const asked = async <T>(question: (open: Admin) => Promise<T>): Promise<T> => {
    try {
      return await question(await connectedAdmin());
    } catch (cause) {
      // The next question gets a new connection: an admin that lost its broker does not always find it again.
      const old = admin;
      admin = null;
      void old?.then((lost) => lost.disconnect()).catch(() => undefined);
      throw cause;
    }
  };

  const topicEnd = (): Promise<number> =>
    asked(async (open) => (await open.fetchTopicOffsets(ordersTopic)).reduce((sum, { high }) => sum + Number(high), 0));
  const storedSince = (wallMs: number): Promise<number> =>
    asked(async (open) => {
      // Where nothing is that late yet, kafkajs gives the end as it is now; what comes after is late enough by itself.
      const from = (await open.fetchTopicOffsetsByTimestamp(ordersTopic, wallMs)).reduce((sum, { offset }) => sum + Number(offset), 0);
      const to = (await open.fetchTopicOffsets(ordersTopic)).reduce((sum, { high }) => sum + Number(high), 0);
      return to - from;
    });
  const orGone = async (question: Promise<number>): Promise<number> => {
    try {
      return await within(question, OFFSETS_BOUND_MS);
    } catch (cause) {
      throw new LabError('STACK_GONE', `the offsets of topic ${ordersTopic} could not be read directly: ${String(cause)}`, 'see the log of kafka in the folder of the stack', { cause });
    }
  };

  return {
    ordersTopicEnd: () => orGone(topicEnd()),
    ordersStoredSince: (wallMs) => orGone(storedSince(wallMs)),
    async answers(server) {
      try {
        await within<unknown>(server === 'kafka' ? topicEnd() : server === 'postgres' ? askPostgres(direct.postgres) : askRedis(direct.redisPrimary), ANSWER_BOUND_MS);
        return true;
      } catch {
        return false;
      }
    },
    refuses: (address) =>
      new Promise((resolve, reject) => {
        const socket = connect({ host: address.host, port: address.port });
        socket.setTimeout(OFFSETS_BOUND_MS, () => socket.destroy(new Error('neither accepted nor refused')));
        socket.once('connect', () => {
          if (ports === 'own') {
            socket.destroy();
            resolve(false);
            return;
          }
          // What an engine's forwarder accepted for nobody it closes again at once; a server's client speaks first, so an open way stays silent.
          const open = setTimeout(() => {
            socket.destroy();
            resolve(false);
          }, FORWARDER_BOUND_MS);
          socket.resume();
          socket.once('close', () => {
            clearTimeout(open);
            resolve(true);
          });
        });
        socket.once('error', (error: NodeJS.ErrnoException) => {
          if (error.code === 'ECONNREFUSED' || (ports === 'forwarded' && error.code === 'ECONNRESET')) resolve(true);
          else reject(new LabError('STACK_GONE', `no clear answer from ${address.host}:${String(address.port)}: ${error.message}`, 'see the log of toxiproxy', { cause: error }));
        });
      }),
    probe: (link, store) => openLinkProbe(link, store, direct.postgres),
    logEnd: async (server) => (await stat(logOf(server, logFileOf))).size,
    loggedSince: (server, from) => textFrom(logOf(server, logFileOf), from),
    unpaidOrders: () =>
      withPostgres(direct.postgres, database, async (client) => {
        const { rows } = await client.query<{ unpaid: string }>('SELECT count(*) AS unpaid FROM orders WHERE status = ANY($1)', [[OrderStatus.CREATED, OrderStatus.PAYING]]);
        return Number(rows[0]?.unpaid ?? 0);
      }),
    async close() {
      const old = admin;
      admin = null;
      await old?.then((open) => open.disconnect()).catch(() => undefined);
    },
  };
}

function logOf(server: ServerName, logFileOf: (server: ServerName) => string | null): string {
  const file = logFileOf(server);
  if (file === null) throw new LabError('STACK_GONE', `the log of ${server} cannot be read from here`, 'run on a local stack');
  return file;
}

async function textFrom(path: string, from: number): Promise<string> {
  const file = await open(path);
  try {
    const length = Math.max(0, (await file.stat()).size - from);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, from);
    return buffer.toString('utf8');
  } finally {
    await file.close();
  }
}

async function askPostgres(address: PostgresAddress): Promise<void> {
  const client = new pg.Client({ host: address.host, port: address.port, user: address.user, password: address.password, database: 'postgres', connectionTimeoutMillis: ANSWER_BOUND_MS, query_timeout: ANSWER_BOUND_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    // Not awaited: a frozen server never says goodbye.
    void client.end().catch(() => undefined);
  }
}

/** An inline command: no client library whose reconnects and queues would blur the answer. */
function askRedis(address: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address.host, port: address.port });
    socket.setTimeout(ANSWER_BOUND_MS, () => socket.destroy(new Error('no answer')));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (answer) => {
      socket.destroy();
      if (answer.toString().startsWith('+PONG')) resolve();
      else reject(new Error(answer.toString()));
    });
    socket.once('error', reject);
    socket.once('close', () => {
      reject(new Error('closed without an answer'));
    });
  });
}

async function within<T>(work: Promise<T>, boundMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer within ${String(boundMs)} ms`));
    }, boundMs);
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Makes kafkajs clients the one way this system wants them: patched, without Nagle, quiet, and with the sockets in sight.
 */
import { connect, type Socket } from 'node:net';

import { Kafka, logLevel, type ISocketFactory, type LogEntry } from 'kafkajs';

import type { HostPort } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import { patchKafkajs } from './kafkajs-patches.js';

export interface KafkaClientOptions {
  /** Bootstrap address; the broker must advertise the same address on this listener, else a proxy here is bypassed (LIBRARIES §1.10). */
  readonly address: HostPort;
  readonly clientId: string;
  /** kafkajs checks every min(this, 100) ms, so an answer is given up after this and up to 100 ms more. */
  readonly requestTimeoutMs: number;
  readonly connectionTimeoutMs: number;
  /** Retries of connect, metadata and coordinator look-ups; of sends too unless the producer says otherwise. */
  readonly retries: number;
  /** Told of each socket as it is opened. */
  readonly onSocket?: (socket: Socket) => void;
  /** Where kafkajs's own errors go, as warnings. Absent: nowhere. */
  readonly log?: RoleSurroundings['log'];
}

/**
 * Nagle off, since kafkajs leaves it on and pays 44 ms for three small concurrent sends; TCP keep-alive for links without a proxy.
 */
function socketFactory(onSocket: ((socket: Socket) => void) | undefined): ISocketFactory {
  return ({ host, port, onConnect }) => {
    const socket = connect({ host, port, noDelay: true }, onConnect);
    socket.setKeepAlive(true, 5_000);
    onSocket?.(socket);
    return socket;
  };
}

function forwardTo(log: RoleSurroundings['log'] | undefined): (entry: LogEntry) => void {
  return (entry) => {
    log?.('warn', `kafkajs: ${entry.log.message}`, { namespace: entry.namespace });
  };
}

/** A kafkajs client. Opens nothing yet. */
export function createKafka(options: KafkaClientOptions): Kafka {
  patchKafkajs();
  return new Kafka({
    brokers: [`${options.address.host}:${String(options.address.port)}`],
    clientId: options.clientId,
    requestTimeout: options.requestTimeoutMs,
    connectionTimeout: options.connectionTimeoutMs,
    authenticationTimeout: options.connectionTimeoutMs + 50,
    retry: { retries: options.retries, initialRetryTime: 100, maxRetryTime: 1_000 },
    socketFactory: socketFactory(options.onSocket),
    logLevel: options.log === undefined ? logLevel.NOTHING : logLevel.ERROR,
    logCreator: () => forwardTo(options.log),
  });
}

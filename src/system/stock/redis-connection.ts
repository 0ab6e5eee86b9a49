/**
 * One connection to Redis that never does anything twice and never waits for ever. The options are chosen against measured traps:
 *
 * - `maxRetriesPerRequest: 0` empties the queue at every close; with the default, a script whose answer was lost runs again after the
 *   reconnect and the caller never knows. (Turning resend off instead leaves promises pending for ever.)
 * - `enableOfflineQueue: false`: a command for a lost connection fails at once instead of being sent long after its caller has gone.
 * - `commandTimeout` ends every call (it does not cancel it: unknown); `socketTimeout` drops a connection on which nothing returns.
 */
import { Redis } from 'ioredis';

import type { HostPort } from '../../domain/role-config.js';
import { classifyFailure, type CallResult } from './call-failure.js';
import { makeStringsFast } from './fast-strings.js';

// Undoes what the import above does to the whole process, and so must everybody who imports this file.
makeStringsFast();

export interface ConnectionOptions {
  /** Shown by `CLIENT LIST`. */
  readonly name: string;
  readonly commandTimeoutMs: number;
  /** Told about connection errors, which ioredis repeats at every attempt. */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** How long after a command's own deadline a silent connection is given up. */
const SOCKET_GRACE_MS = 200;
const CONNECT_TIMEOUT_MS = 500;
const RECONNECT_STEP_MS = 50;
const RECONNECT_MAX_MS = 500;

/** Starts to connect at once and reconnects until `disconnect()`. Never throws for an operating failure. */
export function openConnection(address: HostPort, options: ConnectionOptions): Redis {
  const redis = new Redis({
    host: address.host,
    port: address.port,
    connectionName: options.name,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    commandTimeout: options.commandTimeoutMs,
    socketTimeout: options.commandTimeoutMs + SOCKET_GRACE_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(RECONNECT_STEP_MS * attempt, RECONNECT_MAX_MS),
    // Errors of role and replication are answers to classify, never a reason to send a command again.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  // Without a listener ioredis prints every failed attempt.
  redis.on('error', (error: Error) => options.onError?.(error));
  return redis;
}

/** Runs one call on a connection that is ready, or says surely-not-done. Never rejects. */
export async function callRedis<T>(redis: Redis, call: () => Promise<T>): Promise<CallResult<T>> {
  // "Connection is closed." means both "was never written" and "was in flight"; asking first makes every such error an unknown one.
  if (redis.status !== 'ready') return { outcome: 'surely-not-done', reason: `not connected to Redis (${redis.status})` };
  try {
    return { outcome: 'done', value: await call() };
  } catch (error) {
    return classifyFailure(error);
  }
}

/** True once the connection is ready, false after `timeoutMs` or when it has ended. */
export function whenReady(redis: Redis, timeoutMs: number): Promise<boolean> {
  if (redis.status === 'ready') return Promise.resolve(true);
  return new Promise((resolve) => {
    const settle = (ready: boolean): void => {
      clearTimeout(timer);
      redis.off('ready', onReady);
      redis.off('end', onEnd);
      resolve(ready);
    };
    const onReady = (): void => { settle(true); };
    const onEnd = (): void => { settle(false); };
    const timer = setTimeout(() => { settle(false); }, timeoutMs);
    redis.on('ready', onReady);
    redis.on('end', onEnd);
  });
}

/**
 * The two producers of the system: the same machine with different patience. Neither is idempotent and neither retries by itself.
 */
import type { HostPort } from '../../domain/role-config.js';
import type { RoleSurroundings } from '../role.js';
import { createBatchingProducer } from './batching-producer.js';
import type { LogProducer } from './order-log-port.js';

export interface ProducerOptions {
  readonly address: HostPort;
  readonly clientId: string;
  readonly topics: readonly string[];
  readonly log: RoleSurroundings['log'];
}

/**
 * For the gateway, whose caller waits: the budget is `sendBudgetMs` (200), of which a request gets three quarters, because kafkajs notices a
 * timeout up to 100 ms late.
 */
export function createGatewayProducer(options: ProducerOptions & { readonly sendBudgetMs: number }): LogProducer {
  const requestTimeoutMs = Math.max(50, Math.floor(options.sendBudgetMs * 0.75));
  return createBatchingProducer({
    ...options,
    budgetMs: options.sendBudgetMs,
    requestTimeoutMs,
    connectionTimeoutMs: requestTimeoutMs,
    maxBatch: 500,
    maxInFlight: 4,
    maxQueued: 20_000,
  });
}

/**
 * For the scanner and the relay, which come back with the same message anyway: a slow broker is waited for, a dead one is noticed in
 * seconds. They retry at the caller, with the same message id.
 */
export function createSteadyProducer(options: ProducerOptions): LogProducer {
  return createBatchingProducer({
    ...options,
    budgetMs: 6_000,
    requestTimeoutMs: 5_000,
    connectionTimeoutMs: 1_000,
    maxBatch: 500,
    maxInFlight: 4,
    maxQueued: 20_000,
  });
}

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
 * For the scanner and the relay, which come back with the same message anyway: a slow broker is waited for. The budget has to end within the
 * lease under which the caller sends, else another instance sends the same at the same time. They retry at the caller, with the same id.
 */
export function createSteadyProducer(options: ProducerOptions & { readonly budgetMs: number }): LogProducer {
  return createBatchingProducer({
    ...options,
    requestTimeoutMs: Math.max(100, options.budgetMs - 200),
    connectionTimeoutMs: Math.min(1_000, options.budgetMs),
    maxBatch: 500,
    maxInFlight: 4,
    maxQueued: 20_000,
  });
}

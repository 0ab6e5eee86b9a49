/** Writes orders for the consumer: one transaction per call, tried again as a whole where another transaction was in the way. */
import { setTimeout as delay } from 'node:timers/promises';

import type { OrderMessage } from '../../domain/order-message.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { createRoleMetrics, type RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings } from '../role.js';
import type { Allocator } from './allocators/allocator-port.js';
import { ALLOCATORS } from './allocators/registry.js';
import { ledgerMetrics } from './ledger-metrics.js';
import type { MessageResult, OrderLedger, TransactionOutcome } from './ledger-port.js';
import { createIdSource } from './order-id.js';
import { decideMessages, type OrderTransactionParts } from './order-transaction.js';
import { answers, createPool } from './pool.js';
import { describeFailure, errorClassOf, failureKind, refusalFault, sqlStateOf, UnitsLocked } from './postgres-failure.js';
import { rehearseOrders } from './rehearsal.js';
import { loadStatements, type Statements } from './sql-loader.js';
import { inTransaction, triesOf, type Transaction, type TransactionEnd } from './transaction.js';

/** Paper 001 §9.11 tries three times; units locked by others need a little more patience near the end of the stock. */
const ATTEMPT_LIMIT = 6;
/** Well below a consumer's session timeout; after it the consumer's own loop, which sends heartbeats, goes on. */
const RETRY_BUDGET_MS = 2_500;

/** What the ledger is given besides its configuration; a wrong design, or a test, puts its own parts in the place of the right ones. */
export interface LedgerOverrides {
  readonly statements?: Statements;
  readonly allocator?: Allocator;
  /** The role's recorder. Absent: counted, and shown nowhere. */
  readonly metrics?: RoleMetrics;
}

/** The ledger of one consumer role, with a pool of its own. Connects on first use. */
export function createOrderLedger(config: RoleConfig, surroundings: RoleSurroundings, overrides: LedgerOverrides = {}): OrderLedger {
  const statements = overrides.statements ?? loadStatements();
  const pool = createPool({
    address: config.addresses.postgres,
    database: config.namespace.database,
    applicationName: config.instance,
    max: config.tuning.postgresPoolSize,
  }, surroundings);
  const metrics = ledgerMetrics(overrides.metrics ?? createRoleMetrics(config.role, config.instance));
  const parts: OrderTransactionParts = {
    inbox: { group: config.namespace.ordersGroup, topic: config.namespace.ordersTopic },
    topics: { events: config.namespace.eventsTopic, closes: config.namespace.closesTopic },
    paymentWindowMs: config.tuning.paymentWindowMs,
    allocator: overrides.allocator ?? ALLOCATORS[config.strategies.allocator],
    ids: createIdSource(config.instance, surroundings.clock),
    clock: surroundings.clock,
    observer: surroundings.observer,
  };

  const once = (messages: readonly OrderMessage[], queued: boolean, attempt: number): Promise<TransactionEnd<readonly MessageResult[]>> =>
    inTransaction(pool, statements, async (transaction) => {
      if (queued) await queueForSkus(transaction, messages);
      return decideMessages(transaction, messages, parts);
    }, { ...idsOf(messages), ...triesOf(attempt) });

  const createOrders = async (messages: readonly OrderMessage[]): Promise<TransactionOutcome> => {
    if (messages.length === 0) return { outcome: 'committed', results: [] };
    const startedMs = performance.now();
    let queued = false;
    for (let attempt = 1; ; attempt++) {
      const end = await once(messages, queued, attempt);
      const retries = end.end === 'not-committed' && failureKind(end.error) === 'conflict'
        && attempt < ATTEMPT_LIMIT && performance.now() - startedMs < RETRY_BUDGET_MS;
      if (retries) {
        metrics.triedAgain(sqlStateOf(end.error) ?? (end.error as Error).name);
        queued ||= end.error instanceof UnitsLocked;
        await delay(retryDelayMs(attempt));
        continue;
      }
      const outcome = outcomeOf(end);
      metrics.transactionEnded(outcome, performance.now() - startedMs);
      surroundings.log('debug', 'orders decided', {
        ...idsOf(messages), ...triesOf(attempt), commitResult: outcome.outcome,
        ...(outcome.outcome === 'committed' ? { resultCode: outcome.results[0]?.result ?? null } : { errorClass: errorClassOf(end.end === 'committed' ? null : end.error) }),
        databaseMs: Math.round(performance.now() - startedMs),
      });
      if (outcome.outcome === 'committed') await surroundings.observer.reached('consumer.after-commit', messages.map((message) => message.reservationId));
      return outcome;
    }
  };

  return {
    createOrders,
    async rehearse(orders, batch) {
      await rehearseOrders(pool, statements, parts, { instance: config.instance, orders, batch }).catch((error: unknown) => {
        surroundings.log('warn', 'orders could not be rehearsed', { reason: describeFailure(error) });
      });
    },
    ready: () => answers(pool),
    close: () => pool.end(),
  };
}

/** For the log: of a batch, those of its first message. */
function idsOf(messages: readonly OrderMessage[]): Readonly<Record<string, string | number>> {
  const [first] = messages;
  if (first === undefined) return { messages: 0 };
  const { requestId, reservationId, messageId, activityId, skuId, userId } = first;
  return { messages: messages.length, requestId, reservationId, messageId, activityId, skuId, userId };
}

function outcomeOf(end: TransactionEnd<readonly MessageResult[]>): TransactionOutcome {
  if (end.end === 'committed') return { outcome: 'committed', results: end.value };
  const reason = describeFailure(end.error);
  if (end.end === 'unknown') return { outcome: 'unknown', reason };
  const kind = failureKind(end.error);
  if (kind === 'definite') return { outcome: 'refused', reason, fault: refusalFault(end.error) };
  // A client that waited too long has had no answer, and a server that cannot work now says nothing about these messages.
  const answered = kind === 'conflict' || (kind === 'slow' && sqlStateOf(end.error) !== null);
  return { outcome: 'not-committed', reason, slow: kind === 'slow', answered };
}

/** Transactions that met locked units queue from then on, sorted so that they cannot wait in a ring. */
async function queueForSkus(transaction: Transaction, messages: readonly OrderMessage[]): Promise<void> {
  const skus = new Map(messages.map((message) => [`${message.activityId}:${message.skuId}`, message]));
  for (const [, sku] of [...skus].sort(([one], [other]) => (one < other ? -1 : 1))) {
    await transaction.run('lock_sku_queue', [sku.activityId, sku.skuId]);
  }
}

/** 15 ms doubling, plus up to as much again at random, so that two that collided do not meet again (paper 001 §9.11). */
function retryDelayMs(attempt: number): number {
  const baseMs = 15 * 2 ** (attempt - 1);
  return baseMs + Math.random() * baseMs;
}

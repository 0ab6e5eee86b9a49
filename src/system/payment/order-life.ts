/** The life of orders over PostgreSQL: each call one transaction, tried again as a whole where another transaction was in the way (paper 001 §9.11). */
import { setTimeout as delay } from 'node:timers/promises';

import type { Pool } from 'pg';

import type { RoleConfig } from '../../domain/role-config.js';
import type { StepName } from '../../domain/steps.js';
import { UNIT_KEEPERS } from '../ledger/allocators/registry.js';
import { createIdSource } from '../ledger/order-id.js';
import { answers, createPool } from '../ledger/pool.js';
import { describeFailure, failureKind, sqlStateOf } from '../ledger/postgres-failure.js';
import { loadStatements, type Statements } from '../ledger/sql-loader.js';
import type { TransactionFields } from '../ledger/pool-metrics.js';
import { inTransaction, triesOf, type Transaction, type TransactionEnd } from '../ledger/transaction.js';
import type { RoleSurroundings } from '../role.js';
import { cancelOrder, expireOrders } from './end-orders.js';
import { lifeAnswer, orderOfUser, type LifeParts } from './locked-order.js';
import type { LifeAnswer, LifeOutcome, OrderLife, PaymentQuestion, RefundablePayment } from './order-life-port.js';
import { completeRefund, requestRefund } from './refund-orders.js';
import { startPaying } from './start-paying.js';
import { takeCallback } from './take-callback.js';

const ATTEMPT_LIMIT = 6;
/** An HTTP request and a consumer's heartbeat both wait for the end of the tries. */
const RETRY_BUDGET_MS = 2_000;
/** Questions double their wait up to this. */
const QUERY_WAIT_LIMIT_FACTOR = 16;

export interface OrderLifeOverrides {
  readonly statements?: Statements;
  /** Told of each whole transaction that is tried again. */
  readonly onRetry?: (cause: string) => void;
}

type Body<Value> = (transaction: Transaction) => Promise<Value>;
/** `about`: of what the transaction is, for the log, where its body cannot tell sooner. */
type Run = <Value>(body: Body<Value>, about?: TransactionFields) => Promise<LifeOutcome<Value>>;

/** Connects on first use, with a pool of its own. */
export function createOrderLife(config: RoleConfig, surroundings: RoleSurroundings, overrides: OrderLifeOverrides = {}): OrderLife {
  const statements = overrides.statements ?? loadStatements();
  const pool = createPool({
    address: config.addresses.postgres,
    database: config.namespace.database,
    applicationName: config.instance,
    max: config.tuning.postgresPoolSize,
  }, surroundings);
  const announce = async (step: StepName, ids: readonly string[]): Promise<void> => {
    await surroundings.observer.reached(step, ids);
  };
  const parts: LifeParts = {
    eventsTopic: config.namespace.eventsTopic,
    keeper: UNIT_KEEPERS[config.strategies.allocator],
    ids: createIdSource(config.instance, surroundings.clock),
    clock: surroundings.clock,
    paymentQueryAfterMs: config.tuning.paymentQueryAfterMs,
    announce,
  };
  let closing: Promise<void> | null = null;
  const run: Run = (body, about = {}) => runWhole({ pool, statements, about, ...(overrides.onRetry === undefined ? {} : { onRetry: overrides.onRetry }) }, body);
  const ofOrder = (orderId: string, body: Body<LifeAnswer>, about: TransactionFields = {}): Promise<LifeOutcome<LifeAnswer>> => run(async (transaction) => {
    const answer = await body(transaction);
    transaction.note({ resultCode: answer.code, paymentId: answer.paymentId });
    return answer;
  }, { orderId, ...about });
  const ofPayment = async (orderId: string, body: Body<LifeAnswer>, about: TransactionFields = {}): Promise<LifeOutcome<LifeAnswer>> => {
    const ids = [orderId];
    const end = await ofOrder(orderId, body, about);
    if (end.outcome === 'done') await announce('payment.after-commit', ids);
    return end;
  };
  return {
    look: (orderId, userId) => ofOrder(orderId, (transaction) => look(transaction, orderId, userId)),
    startPaying: (orderId, userId, provider) => ofPayment(orderId, (transaction) => startPaying(transaction, orderId, userId, provider, parts)),
    cancel: (orderId, userId) => ofPayment(orderId, (transaction) => cancelOrder(transaction, orderId, userId, parts)),
    requestRefund: (orderId, userId) => ofPayment(orderId, (transaction) => requestRefund(transaction, orderId, userId, parts)),
    takeCallback: (callback) => ofPayment(callback.orderId, (transaction) => takeCallback(transaction, callback, parts), { tradeNo: callback.tradeNo }),
    async closeExpired(orderIds) {
      const end = await run(async (transaction) => {
        const closed = await expireOrders(transaction, orderIds, parts);
        transaction.note({ resultCode: closed.length > 0 ? 'CANCELLED' : 'NOTHING_TO_CLOSE', closed: closed.length });
        return closed;
      }, { orders: orderIds.length, orderId: orderIds[0] ?? null });
      if (end.outcome === 'done' && end.value.length > 0) await announce('closer.after-commit', end.value.map((order) => order.reservationId));
      return end;
    },
    findExpired: (graceMs, limit) => run(async (transaction) => (await transaction.run<{ order_id: string }>('find_expired_orders', [graceMs, limit])).rows.map((row) => row.order_id)),
    completeRefund: (paymentId, closesOrder) => run((transaction) => completeRefund(transaction, paymentId, closesOrder, parts), { paymentId }),
    ...questionsOf(run, config.tuning.paymentQueryAfterMs),
    ready: () => answers(pool),
    // Whoever holds it may close it: a pool may be ended once only.
    close: () => (closing ??= pool.end()),
  };
}

interface QuestionRow {
  readonly payment_id: string;
  readonly order_id: string;
  readonly provider: string;
  readonly query_count: number;
}

function questionsOf(run: Run, waitMs: number): Pick<OrderLife, 'markUnknown' | 'claimQuestions' | 'endQuestions' | 'loadPayment'> {
  return {
    markUnknown: (paymentId) => run(async (transaction) => {
      await transaction.run('mark_payment_unknown', [paymentId]);
      return null;
    }, { paymentId }),
    claimQuestions: (limit) => run(async (transaction) => {
      const { rows } = await transaction.run<QuestionRow>('claim_payment_queries', [limit, waitMs, waitMs * QUERY_WAIT_LIMIT_FACTOR]);
      return rows.map((row): PaymentQuestion => ({ paymentId: row.payment_id, orderId: row.order_id, provider: row.provider, askedTimes: row.query_count }));
    }),
    endQuestions: (paymentId) => run(async (transaction) => (await transaction.run('end_payment_queries', [paymentId, waitMs * QUERY_WAIT_LIMIT_FACTOR])).count > 0, { paymentId }),
    loadPayment: (paymentId) => run((transaction) => loadPayment(transaction, paymentId), { paymentId }),
  };
}

interface PaymentDetails {
  readonly payment_id: string;
  readonly order_id: string;
  readonly provider: string;
  readonly provider_trade_no: string | null;
  readonly amount: string;
  readonly currency: string;
  readonly status: number;
}

async function loadPayment(transaction: Transaction, paymentId: string): Promise<RefundablePayment | null> {
  const row = (await transaction.run<PaymentDetails>('load_payment', [paymentId])).rows[0];
  if (row === undefined) return null;
  return {
    paymentId: row.payment_id, orderId: row.order_id, provider: row.provider, tradeNo: row.provider_trade_no, amount: row.amount,
    currency: row.currency, status: row.status,
  };
}

async function look(transaction: Transaction, orderId: string, userId: string): Promise<LifeAnswer> {
  const found = await orderOfUser(transaction, orderId, userId);
  if ('answer' in found) return found.answer;
  const { status, amount, currency, cancelReason } = found.order;
  return lifeAnswer({ code: 'ORDER', orderId, orderStatus: status, amount, currency, reason: cancelReason });
}

/** Two callbacks of one trade may meet in a unique key: the second, tried again, finds what the first has written. */
function isInTheWay(error: unknown): boolean {
  return failureKind(error) === 'conflict' || sqlStateOf(error) === '23505';
}

interface Whole {
  readonly pool: Pool;
  readonly statements: Statements;
  readonly about: TransactionFields;
  readonly onRetry?: (cause: string) => void;
}

async function runWhole<Value>({ pool, statements, about, onRetry }: Whole, body: Body<Value>): Promise<LifeOutcome<Value>> {
  const startedMs = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const end = await inTransaction(pool, statements, body, { ...about, ...triesOf(attempt) });
    const retries = end.end === 'not-committed' && isInTheWay(end.error) && attempt < ATTEMPT_LIMIT && performance.now() - startedMs < RETRY_BUDGET_MS;
    if (!retries) return outcomeOf(end);
    onRetry?.(sqlStateOf(end.error) ?? (end.error as Error).name);
    const baseMs = 15 * 2 ** (attempt - 1);
    await delay(baseMs + Math.random() * baseMs);
  }
}

function outcomeOf<Value>(end: TransactionEnd<Value>): LifeOutcome<Value> {
  if (end.end === 'committed') return { outcome: 'done', value: end.value };
  const reason = describeFailure(end.error);
  if (end.end === 'unknown') return { outcome: 'unknown', reason };
  const kind = failureKind(end.error);
  if (kind === 'definite' && !isInTheWay(end.error)) return { outcome: 'refused', reason };
  return { outcome: 'unavailable', reason, answered: isInTheWay(end.error) || (kind === 'slow' && sqlStateOf(end.error) !== null) };
}

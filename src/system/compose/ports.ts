/**
 * The real ports of one role, made when a role asks for them: the only place where an adapter is chosen. A wrong design, or a test, puts its
 * own port in place of a real one, or wraps it.
 */
import { systemClock, type Clock } from '../../domain/clock.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { silentStepObserver, type StepObserver } from '../../domain/steps.js';
import type { OrderLedger, RequestReader, ReservationJudge } from '../ledger/ledger-port.js';
import { createOrderLedger, type LedgerOverrides } from '../ledger/order-ledger.js';
import { createRequestReader } from '../ledger/request-reader.js';
import { createReservationJudge } from '../ledger/reservation-judge.js';
import { loadStatements } from '../ledger/sql-loader.js';
import { createOutboxStore, type OutboxStore } from '../outbox/outbox-store.js';
import { createBatchConsumer } from '../order-log/batch-consumer.js';
import { consumerProgress } from '../order-log/consumer-metrics.js';
import type { LogConsumer, LogProducer } from '../order-log/order-log-port.js';
import { createGatewayProducer, createSteadyProducer } from '../order-log/steady-producer.js';
import { createThreadedProducer } from '../order-log/threaded-producer.js';
import { topicKind } from '../order-log/topic-kinds.js';
import { createHttpChannel } from '../payment/http-channel.js';
import { createOrderLife } from '../payment/order-life.js';
import type { OrderLife } from '../payment/order-life-port.js';
import type { PaymentChannel } from '../payment/payment-channel-port.js';
import { availabilityZone } from '../placement.js';
import { createCompensationStore, type CompensationStore } from '../recovery/compensation-store.js';
import { createRetentionStore, type RetentionStore } from '../recovery/retention-store.js';
import { createRoleMetrics, type RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings } from '../role.js';
import type { EntryBook } from '../stock/entry-book.js';
import { connectMirror, type RedisMirror } from '../stock/mirror.js';
import { connectStock, type StockOptions } from '../stock/redis-stock.js';
import type { StockPort } from '../stock/stock-port.js';
import type { StockView } from '../stock/stock-view.js';
import { createRoleTracing } from '../tracing/request-trace.js';
import { createJsonLog } from './json-log.js';
import { portObservers } from './observed-ports.js';

/** What a role may be made of. */
export interface RolePorts {
  readonly stock: StockPort;
  readonly producer: LogProducer;
  readonly consumer: LogConsumer;
  readonly ledger: OrderLedger;
  readonly reader: RequestReader;
  readonly judge: ReservationJudge;
  readonly outbox: OutboxStore;
  readonly life: OrderLife;
  readonly compensations: CompensationStore;
  readonly retention: RetentionStore;
  readonly mirror: RedisMirror;
  /** null: no payment channel is configured. */
  readonly channel: PaymentChannel | null;
}

/** Everything that may be other than in production. */
export interface RoleOverrides {
  readonly clock?: Clock;
  readonly observer?: StepObserver;
  readonly log?: RoleSurroundings['log'];
  readonly metrics?: RoleMetrics;
  /** Used instead of the real port, which is then never made. */
  readonly ports?: Partial<RolePorts>;
  /** Given the port, real or overridden; what it returns is used. */
  readonly wrap?: { readonly [Port in keyof RolePorts]?: (port: RolePorts[Port]) => RolePorts[Port] };
  /** Sources in place of the files in `lua/`. */
  readonly scripts?: NonNullable<StockOptions['scripts']>;
  /** How the stock's connection to Redis is opened. */
  readonly openRedis?: NonNullable<StockOptions['open']>;
  /** An allocator in place of the configured one, for the ledger of a consumer. */
  readonly allocator?: LedgerOverrides['allocator'];
  /** Texts in place of the files in `sql/commands`, for the ledger, the Outbox, the life of orders, compensation and retention. */
  readonly statements?: Parameters<typeof loadStatements>[0];
}

/** Makes ports on demand, each with its wrapper applied. */
export interface PortMaker {
  readonly surroundings: RoleSurroundings;
  readonly metrics: RoleMetrics;
  stock(): StockPort;
  /** Over the connection of the last `stock()`; null where another port was put in its place. */
  stockView(): StockView | null;
  /** The same. */
  entryBook(): EntryBook | null;
  /** Impatient, for callers that wait. */
  gatewayProducer(): LogProducer;
  steadyProducer(...topics: readonly string[]): LogProducer;
  /** `maxMessages`: of one call of the handler. */
  consumer(topic: string, groupId: string, maxMessages: number): LogConsumer;
  ledger(): OrderLedger;
  reader(): RequestReader;
  judge(): ReservationJudge;
  outbox(): OutboxStore;
  life(): OrderLife;
  compensations(): CompensationStore;
  retention(): RetentionStore;
  mirror(): RedisMirror;
  channel(): PaymentChannel | null;
}

export function createPortMaker(config: RoleConfig, overrides: RoleOverrides): PortMaker {
  const metrics = overrides.metrics ?? createRoleMetrics(config.role, config.instance, { processMetrics: true, labels: { availability_zone: availabilityZone() } });
  const observer = overrides.observer ?? silentStepObserver;
  const tracing = config.tuning.tracing ? createRoleTracing(config.role, config.instance, observer) : null;
  const surroundings: RoleSurroundings = {
    clock: overrides.clock ?? systemClock,
    observer: tracing?.observer ?? observer,
    log: overrides.log ?? createJsonLog(config.instance, config),
    metrics,
    ...(tracing === null ? {} : { tracing }),
  };
  const observers = portObservers(config, metrics, tracing);
  const { addresses, instance, namespace, tuning } = config;
  let view: StockView | null = null;
  let book: EntryBook | null = null;

  function port<Name extends keyof RolePorts>(name: Name, make: () => RolePorts[Name]): RolePorts[Name] {
    const made: RolePorts[Name] = overrides.ports?.[name] ?? make();
    const wrap = overrides.wrap?.[name] as ((port: RolePorts[Name]) => RolePorts[Name]) | undefined;
    const observe = observers[name] as ((port: RolePorts[Name]) => RolePorts[Name]) | undefined;
    const wrapped = wrap === undefined ? made : wrap(made);
    return observe === undefined ? wrapped : observe(wrapped);
  }
  const log: RoleSurroundings['log'] = (level, text, fields) => {
    surroundings.log(level, text, fields);
  };
  const producerOptions = (topics: readonly string[]) => ({ address: addresses.kafka, clientId: instance, topics, log });

  return {
    surroundings,
    metrics,
    stock: () =>
      port('stock', () => {
        const stock = connectStock(addresses.redis, namespace, {
          connectionName: instance,
          commandTimeoutMs: tuning.reserveTimeoutMs,
          resendAfterMs: tuning.resendAfterMs,
          soldOutMarkMs: tuning.funnel.layers['sold-out-mark'] ? tuning.funnel.soldOutMarkMs : 0,
          metrics,
          ...(overrides.scripts === undefined ? {} : { scripts: overrides.scripts }),
          ...(overrides.openRedis === undefined ? {} : { open: overrides.openRedis }),
        });
        ({ view, book } = stock);
        return stock;
      }),
    stockView: () => view,
    entryBook: () => book,
    gatewayProducer: () =>
      port('producer', () => {
        const { sendBudgetMs, producerThreadNice: nice } = tuning;
        const topics = [namespace.ordersTopic];
        return nice === null ? createGatewayProducer({ ...producerOptions(topics), sendBudgetMs }) : createThreadedProducer({ address: addresses.kafka, clientId: instance, topics, sendBudgetMs, nice }, log);
      }),
    steadyProducer: (...topics) => port('producer', () => createSteadyProducer({ ...producerOptions(topics), budgetMs: Math.max(500, Math.floor((tuning.leaseMs * 2) / 3)) })),
    consumer: (topic, groupId, maxMessages) =>
      port('consumer', () =>
        createBatchConsumer({ address: addresses.kafka, clientId: instance, groupId, topics: [topic], sessionTimeoutMs: tuning.consumerSessionTimeoutMs, maxMessages, log, progress: consumerProgress(metrics, (name) => topicKind(namespace, name)) }),
      ),
    ledger: () =>
      port('ledger', () => {
        const { allocator } = overrides;
        return createOrderLedger(config, surroundings, { statements: loadStatements(overrides.statements), metrics, ...(allocator === undefined ? {} : { allocator }) });
      }),
    reader: () => port('reader', () => createRequestReader(config, surroundings)),
    judge: () => port('judge', () => createReservationJudge(config, surroundings)),
    life: () =>
      port('life', () =>
        createOrderLife(config, surroundings, {
          statements: loadStatements(overrides.statements),
          onRetry: (cause) => { metrics.counter('order_life_retries_total', 'Whole transactions tried again, by cause', { cause }).add(); },
        }),
      ),
    compensations: () => port('compensations', () => createCompensationStore(config, surroundings, loadStatements(overrides.statements))),
    retention: () => port('retention', () => createRetentionStore(config, surroundings, loadStatements(overrides.statements))),
    mirror: () => port('mirror', () => connectMirror(addresses.redis, namespace, { connectionName: instance })),
    channel: () => port('channel', () => (tuning.paymentChannel === null ? null : createHttpChannel(tuning.paymentChannel, tuning.channelTimeoutMs))),
    outbox: () => port('outbox', () => createOutboxStore(config, surroundings, loadStatements(overrides.statements))),
  };
}

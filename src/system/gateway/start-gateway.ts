/**
 * Role `gateway`: the submit and query functions over their stores, and the HTTP server in front of them.
 */
import { DEFAULT_FUNNEL, type FunnelTuning } from '../../domain/funnel.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { RequestReader } from '../ledger/ledger-port.js';
import { isBug } from '../ledger/postgres-failure.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { EntryBook } from '../stock/entry-book.js';
import type { StockPort } from '../stock/stock-port.js';
import type { StockView } from '../stock/stock-view.js';
import { createActivityWindow } from './activity-window.js';
import { createAdmission, createRateLimit } from './admission.js';
import { createDownstreamGauge } from './funnel/downstream-gauge.js';
import { GatewayFunnel } from './funnel/gateway-funnel.js';
import { createKafkaBacklog } from './funnel/kafka-backlog.js';
import { answerRecorder } from './gateway-metrics.js';
import { createQuery, type Query } from './query.js';
import { startGatewayServer, type GatewayServer } from './server.js';
import { createSkuStates, type SkuStates } from './sku-state.js';
import { createSubmitter, type Submit, type Submitter } from './submit.js';
import { warmUpGateway } from './warm-up/warm-up.js';

export interface GatewayDependencies {
  readonly stock: StockPort;
  readonly producer: LogProducer;
  readonly reader: RequestReader;
  readonly metrics: RoleMetrics;
  /** Beside the stock, over the same connection; null where the stock is not Redis. */
  readonly view: StockView | null;
  /** The same, for the layers that all gateways share. */
  readonly book: EntryBook | null;
}

/** The gateway without its HTTP server, for a transport that calls it directly. */
export interface GatewayCore {
  readonly submit: Submit;
  readonly submitter: Submitter;
  readonly query: Query;
  readonly skuState: SkuStates;
  /** What `/metrics` would show. */
  metricsText(): Promise<string>;
  health(): Promise<readonly string[]>;
  /** Closes the stores' connections. Requests in hand end by their own deadlines. */
  close(): Promise<void>;
}

/** Look-ups of one gateway in PostgreSQL: small beside the orders it writes, enough for polls of requests that Redis has lost. */
const DURABLE_LOOKUPS_PER_SECOND = 200;
const DURABLE_LOOKUPS_BURST = 100;
const STOP_TIMEOUT_MS = 3_000;

/** Submit and query over the given stores, which it owns and closes. */
export function createGatewayCore(dependencies: GatewayDependencies, config: RoleConfig, surroundings: RoleSurroundings): GatewayCore {
  const { stock, producer, reader, view } = dependencies;
  const { maxInFlight } = config.tuning;
  const admission = createAdmission(maxInFlight);
  // Only where it is asked for: it is one more connection to the broker.
  const gauge = view !== null && config.tuning.funnel.layers['admission-limit'] ? createDownstreamGauge(view, createKafkaBacklog(config)) : null;
  const funnel = new GatewayFunnel({ ...dependencies, admission, config, surroundings, gauge });
  const window = createActivityWindow(stock, surroundings.clock);
  const submitter = createSubmitter({ stock, producer, admission, config, surroundings, funnel, window });
  const skuState = createSkuStates({ funnel, window, config });
  const query = createQuery({
    stock,
    reader,
    // Its own bound: polls must not take the place of purchases, nor the other way round.
    admission: createAdmission(maxInFlight),
    durableLimit: createRateLimit(DURABLE_LOOKUPS_PER_SECOND, DURABLE_LOOKUPS_BURST),
    config,
  });
  let readerWasThere = false;
  return {
    submit: submitter.submit,
    submitter,
    query,
    skuState,
    metricsText: () => dependencies.metrics.text(),
    async health() {
      const [redis, kafka, postgres] = await Promise.all([stock.ready(), producer.ready(), readerWasThere || reader.ready()]);
      const problems: string[] = [];
      if (!redis) problems.push('Redis does not answer as primary');
      if (!kafka) problems.push('Kafka cannot be used');
      // Only queries of lost records need PostgreSQL. Its outage must not take the gateway out of service, but it must be there at the start.
      if (!postgres) problems.push('PostgreSQL has not answered yet');
      readerWasThere ||= postgres;
      // Whoever waits for this gateway to be ready has it load the configuration before the first customer.
      if (redis) await Promise.all(config.skuIds.map(async (skuId) => window.check({ activityId: config.activityId, skuId })));
      return problems;
    },
    async close() {
      submitter.close();
      await Promise.all([funnel.close(), stock.close(), producer.close(), reader.close()]);
    },
  };
}

/** A sale of the warm-up takes some ten milliseconds. */
const WARM_LINGER_MS = 2;

const ANY_PORT = { host: '127.0.0.1', port: 0 };

function serveGateway({ submitter, query, skuState }: GatewayCore, config: RoleConfig, surroundings: RoleSurroundings, metrics: RoleMetrics, health: () => Promise<readonly string[]>): Promise<GatewayServer> {
  return startGatewayServer({ listen: config.listen, submitter, query, skuState, recorder: answerRecorder(metrics, config), surroundings, health, metrics });
}

/** A copy made like every other: what the warm-up compiled holds for objects of the shapes that it saw. */
function configWith(config: RoleConfig, layers: FunnelTuning['layers']): RoleConfig {
  const { tuning } = config;
  return { ...config, tuning: { ...tuning, funnel: { ...tuning.funnel, layers: { ...DEFAULT_FUNNEL.layers, ...layers } } } };
}

/** The warm-up's, without the layers that would wait, ask a store, or keep it out, and with hand-offs that begin before it is over. */
function warmConfigOf(config: RoleConfig): RoleConfig {
  const { tuning: { funnel: { layers }, producerLingerMs } } = config;
  const warm = configWith(config, { ...DEFAULT_FUNNEL.layers, 'sold-out-mark': layers['sold-out-mark'], line: layers.line });
  return { ...warm, tuning: { ...warm.tuning, producerLingerMs: Math.min(producerLingerMs, WARM_LINGER_MS) } };
}

/** Listens at `config.listen`; rejects when the port cannot be had. Takes ownership of its dependencies. */
export async function startGateway(dependencies: GatewayDependencies, config: RoleConfig, surroundings: RoleSurroundings, warmUp = warmUpGateway): Promise<RunningRole> {
  const { metrics } = dependencies;
  const warmConfig = warmConfigOf(config);
  await warmUp(warmConfig, surroundings, config.tuning.warmUpRequests, {
    core: (memory, silent) => createGatewayCore(memory, warmConfig, silent),
    serve: (core, memory, silent) => serveGateway(core, { ...warmConfig, listen: ANY_PORT }, silent, memory.metrics, () => core.health()),
  }).catch((error: unknown) => {
    if (isBug(error)) throw error;
    // Slower for a moment is better than not there: a gateway that starts again in the middle of a sale sells.
    surroundings.log('warn', 'the gateway starts cold', { reason: String(error) });
  });
  const core = createGatewayCore(dependencies, configWith(config, config.tuning.funnel.layers), { ...surroundings });
  let stopping = false;
  const health = async (): Promise<readonly string[]> => (stopping ? ['the gateway is stopping'] : core.health());
  const server = await serveGateway(core, config, surroundings, metrics, health).catch(async (error: unknown) => {
    await core.close();
    throw error;
  });
  return {
    health,
    // Nothing in a gateway ends it: each store's outage is answered, and each connection comes back by itself.
    fatal: new Promise(() => undefined),
    async stop() {
      stopping = true;
      await server.stop(STOP_TIMEOUT_MS);
      await core.close();
    },
  };
}

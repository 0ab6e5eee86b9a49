/**
 * Compiles the hot path before the first customer comes. A cold gateway spends about ten times the processor time per request; in the first half
 * second of a sale, when everything is sold, that alone made winners wait 0.5–1 s. So a gateway of its own runs in this process before the real one listens, put together
 * as always, against a Redis and a producer's thread that are memory. Nothing of it reaches Redis, Kafka, metrics or the step observer.
 *
 * What is compiled holds for objects of the shapes that were seen, and is thrown away when others come: submit functions over stand-ins of stock and producer were compiled
 * anew in the middle of the storm, 93 of them in its first 0.4 s (docs/decisions/0025). Hence the real client of Redis, and for an edge real batches over HTTP.
 */
import type { HostPort, RoleConfig } from '../../../domain/role-config.js';
import { silentStepObserver, type StepObserver } from '../../../domain/steps.js';
import { measuredProducer } from '../../order-log/measured-producer.js';
import { createRoleMetrics } from '../../role-metrics.js';
import type { RoleSurroundings } from '../../role.js';
import { openConnection } from '../../stock/redis-connection.js';
import { connectStock } from '../../stock/redis-stock.js';
import { binaryItem } from '../batch/binary-item.js';
import type { GatewayServer } from '../server.js';
import type { GatewayCore, GatewayDependencies } from '../start-gateway.js';
import { collectGarbage, collectYoungGarbage } from './collect-garbage.js';
import { memoryProducer } from './memory-thread.js';
import { openMemoryRedis } from './memory-redis.js';
import { postBatches, type Batch } from './post-batches.js';

/** As many at once as a full batch of the reserve script. */
const AT_ONCE = 64;
/** Items of a batch: an edge's usual beat. */
const BATCH_ITEMS = 256;
const REPEATS_EVERY = 10;
/** An edge has one form, and which one is not known here. What reads and writes the items is little beside what decides them. */
const BINARY_EVERY = 4;
const BAD_EVERY = 6;
/**
 * What is done once a batch is not compiled by as many batches as there are thousands of items: so the last sale goes on for so many small ones for each request. V8 compiles the last
 * of it, `node:http`'s own functions among them, after some thousand batches, in the sale if it has not had them before.
 */
const LATE_BATCHES_PER_REQUEST = 0.4;
export const LATE_ITEMS = 16;
const CONNECTED_WITHIN_MS = 2_000;

/** What the warm-up is given to make gateways of. */
export interface GatewayMaker {
  core(dependencies: GatewayDependencies, surroundings: RoleSurroundings): GatewayCore;
  /** Its HTTP server at any free port of this host. */
  serve(core: GatewayCore, dependencies: GatewayDependencies, surroundings: RoleSurroundings): Promise<{ readonly address: HostPort; stop(timeoutMs: number): Promise<void> }>;
}

/** The silent one, with which steps are not announced at all, and so many others that no code comes to rely on their shapes: V8 goes by up to four. */
const OBSERVERS: readonly StepObserver[] = [silentStepObserver, ...['first', 'second', 'third', 'fourth', 'fifth'].map((name) => ({ [name]: null, reached: () => undefined }))];

/** The last one, which is behind a collection, has as much as so many of the others: its line is longer than what may be on the wire. */
const LAST_SHARES = 3;

let lastId = 0;

interface Ids {
  readonly requestId: string;
  readonly userId: string;
}

/** Users' ids are of all lengths, those of a sale long. */
function idsOf(id: number): Ids {
  return { requestId: `warm-${String(id)}`, userId: id % 2 === 0 ? String(id) : `9007199254${String(id)}` };
}

function nextIds(): Ids {
  lastId += 1;
  return idsOf(lastId);
}

async function submitOneByOne({ submit }: GatewayCore, { activityId, skuIds: [skuId = ''] }: RoleConfig, requests: number): Promise<void> {
  for (let done = 0; done < requests; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, async () => submit({ activityId, skuId, ...nextIds(), body: '{"quantity":1}' })));
  }
}

function bodyOf(form: 'json' | 'binary', items: readonly Ids[]): string {
  if (form === 'json') return JSON.stringify(items.map((ids) => ({ ...ids, quantity: 1 })));
  return Buffer.concat(items.map(({ requestId, userId }) => binaryItem(requestId, userId))).toString('latin1');
}

/** An item that nobody can sell anything: user 0 is nobody. */
const NOBODY: Ids = { requestId: 'warm-nobody', userId: '0' };

/** As an edge's beat brings them: every tenth repeats one of those before it, and some batches have a bad item. Then `late` small ones, of whom nobody gets anything. */
function batchesOf(requests: number, late: number): () => Batch | null {
  const first = lastId + 1;
  const batches = Math.ceil(requests / BATCH_ITEMS);
  let sent = 0;
  return () => {
    if (sent === batches + late) return null;
    const form = sent % BINARY_EVERY === 0 ? 'binary' : 'json';
    const items = Array.from({ length: sent < batches ? BATCH_ITEMS : LATE_ITEMS }, (_, index) => (index % REPEATS_EVERY === REPEATS_EVERY - 1 ? idsOf(first + ((index * sent) % (lastId + 1 - first))) : nextIds()));
    if (sent % BAD_EVERY === 0) items.push(NOBODY);
    sent += 1;
    return { form, body: bodyOf(form, items) };
  };
}

/** One gateway that lives for `requests` wins; for an edge a sale of so many units, to which twice as many come. */
async function runOne(config: RoleConfig, surroundings: RoleSurroundings, requests: number, confirmsAfterMs: number, make: GatewayMaker, late = 0): Promise<void> {
  const { instance, namespace, tuning, activityId, skuIds: [skuId = ''] } = config;
  const isForEdge = tuning.funnel.layers['sold-out-mark'];
  const redis = await openMemoryRedis(isForEdge ? requests : Infinity, surroundings.clock.nowMs());
  const metrics = createRoleMetrics('gateway', instance);
  const stock = connectStock(redis.address, namespace, {
    connectionName: instance, commandTimeoutMs: tuning.reserveTimeoutMs, resendAfterMs: tuning.resendAfterMs, soldOutMarkMs: isForEdge ? tuning.funnel.soldOutMarkMs : 0, metrics, open: openConnection,
  });
  await stock.whenConnected(CONNECTED_WITHIN_MS);
  const dependencies: GatewayDependencies = {
    stock, producer: measuredProducer(memoryProducer(confirmsAfterMs, tuning.sendBudgetMs), metrics, namespace),
    reader: { lookup: () => Promise.resolve({ outcome: 'unavailable', reason: 'not asked' }), ready: () => Promise.resolve(true), close: () => Promise.resolve() },
    metrics, view: stock.view, book: stock.book,
  };
  const core = make.core(dependencies, surroundings);
  try {
    if (isForEdge) await postToEdge(await make.serve(core, dependencies, surroundings), { activityId, skuId }, batchesOf(2 * requests, late));
    else await submitOneByOne(core, config, requests);
  } finally {
    await core.close();
    redis.close();
  }
}

async function postToEdge(server: GatewayServer, sale: Parameters<typeof postBatches>[1], nextBatch: () => Batch | null): Promise<void> {
  try {
    await postBatches(server.address, sale, nextBatch);
  } finally {
    await server.stop(0);
  }
}

/** Of the last sale, for a warm-up of so many requests. */
export function lateBatches(requests: number): number {
  return Math.ceil(LATE_BATCHES_PER_REQUEST * requests);
}

/** Runs about `requests` reservations to a win, and for an edge as many to a refusal; 0 does nothing. */
export async function warmUpGateway(config: RoleConfig, around: RoleSurroundings, requests: number, make: GatewayMaker): Promise<void> {
  if (requests === 0 || config.skuIds.length === 0) return;
  const { answerWithinMs } = config.tuning;
  // Some winners are answered before the broker has confirmed.
  const lateMs = answerWithinMs === null ? 0 : answerWithinMs + 20;
  const share = Math.ceil(requests / (OBSERVERS.length + LAST_SHARES));
  for (const [index, observer] of OBSERVERS.entries()) await runOne(config, { ...around, observer }, share, index % 2 === 1 ? lateMs : 0, make);
  // Code that was compiled for an object which ends here ends with it, so the last one has it compiled once more.
  collectGarbage();
  await runOne(config, { ...around, observer: { reached: () => undefined } }, LAST_SHARES * share, lateMs, make, lateBatches(requests));
  collectYoungGarbage();
}

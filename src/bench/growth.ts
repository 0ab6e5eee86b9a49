/**
 * `growth`: what a reservation costs redis-server, how long the claims of scanner and relay take, and how long a transaction of 500 orders, with 10,000, 100,000
 * and 1,000,000 orders and marks there already. All three sizes stand side by side and are measured turn and turn about. What is measured adds to what is there, and six
 * rounds would double the smallest: of it there is one for each round.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { systemClock } from '../domain/clock.js';
import { namespaceOf } from '../domain/namespace.js';
import type { OrderMessage } from '../domain/order-message.js';
import type { SkuKey } from '../domain/ids.js';
import { silentStepObserver } from '../domain/steps.js';
import type { RunningStack } from '../stack/running-stack.js';
import { createOrderLedger } from '../system/ledger/order-ledger.js';
import { createOutboxStore } from '../system/outbox/outbox-store.js';
import type { RoleSurroundings } from '../system/role.js';
import { connectStock, type RedisStock } from '../system/stock/redis-stock.js';
import { BARS } from './bars.js';
import { median } from './bound.js';
import { compareAll, ROUNDS, type Bench, type BenchTools } from './bench.js';
import type { Comparison } from './comparison.js';
import { callsOf, grownSku, openGrownSale, reserveAll } from './growth-rows.js';
import { cpuNanoseconds } from './process-cpu.js';
import { orderMessages, type Sale } from '../lab/size/sale.js';

export const SIZES = [10_000, 100_000, 1_000_000] as const;
const RESERVATIONS = 1_600;
const CLAIMS = 8;
const CLAIM_SIZE = 100;
const LEASE_MS = 3_600_000;
const ORDERS = 500;
const TRANSACTIONS = 3;
/**
 * Before those that are timed, at every size: a fresh sale has no connection, no statement planned and no page written since its checkpoint, and with that in its time the
 * smallest looked dearer than the largest. More than PostgreSQL plans a statement anew for.
 */
const WARMING_TRANSACTIONS = 6;
const WARMING_ORDERS = 20;
/** The same for the relay's claims. */
const WARMING_CLAIMS = 6;
const WARMING_PAGE = 20;
/** Units for the orders of all rounds. */
const UNITS = 20_000;
const PAGE = 500;

/** How many of a size stand there, each for as many rounds as the others. The rounds are those that count and the one that warms up. */
export function standing(size: number): number {
  return size === SIZES[0] ? ROUNDS + 1 : 1;
}

/** By how much of itself one of this size grows over its rounds, at most. */
export function growsBy(size: number): number {
  return (((ROUNDS + 1) / standing(size)) * Math.max(RESERVATIONS, ORDERS * TRANSACTIONS + WARMING_ORDERS * WARMING_TRANSACTIONS)) / size;
}

/** What stands there, by size. */
class Standing<Side> {
  readonly #sides = new Map<number, readonly Side[]>();

  /** Makes all of them, the largest last. */
  async make(one: (size: number) => Promise<Side>): Promise<void> {
    for (const size of SIZES) {
      const sides: Side[] = [];
      this.#sides.set(size, sides);
      for (let place = 0; place < standing(size); place += 1) sides.push(await one(size));
    }
  }

  /** The one that a round has to itself, or shares with the others. */
  at(size: number, round: number): Side {
    const sides = this.#sides.get(size) ?? [];
    const side = sides[round % sides.length];
    if (side === undefined) throw new Error(`nothing of size ${String(size)} stands there`);
    return side;
  }

  all(): readonly Side[] {
    return [...this.#sides.values()].flat();
  }
}

const surroundings: RoleSurroundings = { clock: systemClock, observer: silentStepObserver, log: () => undefined };
const labelOf = (size: number): string => String(size).padStart(9);

/** The same figure at each size, the largest against the smallest. */
function over(figure: string, measureAt: (size: number, round: number) => Promise<number>): Comparison {
  return {
    name: 'growth', figure,
    sides: SIZES.map((size) => ({ label: labelOf(size), measure: (round) => measureAt(size, round) })),
    bars: [{ over: labelOf(SIZES[2]), under: labelOf(SIZES[0]), bound: BARS.growth }],
  };
}

/** Until no child of Redis copies its memory: that would be the cost of the copy. */
async function untilRedisIsQuiet(stack: RunningStack): Promise<void> {
  const redis = new Redis({ ...stack.description.direct.redisPrimary });
  while (/(?:aof_rewrite|rdb_bgsave)_in_progress:1|aof_rewrite_scheduled:1/.test(await redis.info('persistence'))) await delay(200);
  redis.disconnect();
}

async function redisGrowth(tools: BenchTools, stack: RunningStack): Promise<boolean> {
  const pid = stack.description.servers['redis-primary'].pid ?? 0;
  const stock: RedisStock = connectStock(stack.description.direct.redisPrimary, namespaceOf(`g${Date.now().toString(36)}`), { commandTimeoutMs: 10_000, resendAfterMs: 1 });
  await stock.whenConnected(5_000);
  try {
    const skus = new Standing<SkuKey>();
    await skus.make((size) => grownSku(stock, size));
    await untilRedisIsQuiet(stack);
    let batches = 0;
    return await compareAll(tools, [
      over('redis-server µs per reservation', async (size, round) => {
        batches += 1;
        const calls = callsOf(`2${String(batches)}`, RESERVATIONS);
        const before = cpuNanoseconds(pid);
        await reserveAll(stock, skus.at(size, round), calls, 1);
        return (cpuNanoseconds(pid) - before) / 1_000 / RESERVATIONS;
      }),
      over(`redis-server µs per claim of ${String(CLAIM_SIZE)} by the scanner`, async (size, round) => {
        const before = cpuNanoseconds(pid);
        for (let claim = 0; claim < CLAIMS; claim += 1) {
          const reply = await stock.claimPending(skus.at(size, round), LEASE_MS, CLAIM_SIZE);
          if (reply.records.length !== CLAIM_SIZE) throw new Error(`a claim got ${String(reply.records.length)} of ${String(CLAIM_SIZE)}`);
        }
        return (cpuNanoseconds(pid) - before) / 1_000 / CLAIMS;
      }),
    ]);
  } finally {
    await stock.close();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/** A sale with what works on it. */
interface GrownSale {
  readonly sale: Sale;
  readonly ledger: ReturnType<typeof createOrderLedger>;
  readonly outbox: ReturnType<typeof createOutboxStore>;
}

async function grownSale(stack: RunningStack, size: number): Promise<GrownSale> {
  const sale = await openGrownSale(stack, size, UNITS);
  return { sale, ledger: createOrderLedger(sale.configOf('consumer'), surroundings), outbox: createOutboxStore(sale.configOf('consumer'), surroundings) };
}

async function postgresGrowth(tools: BenchTools, sales: Standing<GrownSale>): Promise<boolean> {
  let claims = 0;
  const claimAt = async (size: number, round: number, page: number): Promise<void> => {
    claims += 1;
    const events = await sales.at(size, round).outbox.claim(page, `bench-${String(claims)}`);
    if (events.length !== page) throw new Error(`a claim got ${String(events.length)} of ${String(page)}`);
  };
  return compareAll(tools, [
    over(`ms per transaction of ${String(ORDERS)} orders`, async (size, round) => {
      const commit = async (messages: readonly OrderMessage[]): Promise<void> => {
        const { outcome } = await sales.at(size, round).ledger.createOrders(messages);
        if (outcome !== 'committed') throw new Error(`a transaction was ${outcome}`);
      };
      for (let transaction = 0; transaction < WARMING_TRANSACTIONS; transaction += 1) await commit(orderMessages(WARMING_ORDERS));
      const times: number[] = [];
      for (let transaction = 0; transaction < TRANSACTIONS; transaction += 1) {
        const messages = orderMessages(ORDERS);
        times.push(await timed(() => commit(messages)));
      }
      return median(times);
    }),
    // Their events are those of the orders above.
    over(`ms per claim of ${String(PAGE)} events by the relay`, async (size, round) => {
      for (let claim = 0; claim < WARMING_CLAIMS; claim += 1) await claimAt(size, round, WARMING_PAGE);
      return timed(() => claimAt(size, round, PAGE));
    }),
  ]);
}

export const growthBench: Bench = {
  name: 'growth',
  async run(tools) {
    const stack = await tools.stack();
    const inRedis = await redisGrowth(tools, stack);
    const sales = new Standing<GrownSale>();
    try {
      await sales.make((size) => grownSale(stack, size));
      return (await postgresGrowth(tools, sales)) && inRedis;
    } finally {
      for (const { sale, ledger, outbox } of sales.all()) {
        await Promise.all([ledger.close(), outbox.close()]);
        await sale.close();
      }
    }
  },
};

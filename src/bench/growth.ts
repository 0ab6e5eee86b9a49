/**
 * `growth`: what a reservation costs redis-server, how long the claims of scanner and relay take, and how long a transaction of 500 orders, with 10,000, 100,000
 * and 1,000,000 orders and marks there already. All three sizes stand side by side and are measured turn and turn about.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { Redis } from 'ioredis';

import { systemClock } from '../domain/clock.js';
import { namespaceOf } from '../domain/namespace.js';
import type { SkuKey } from '../domain/ids.js';
import { silentStepObserver } from '../domain/steps.js';
import type { RunningStack } from '../stack/running-stack.js';
import { createOrderLedger } from '../system/ledger/order-ledger.js';
import { createOutboxStore } from '../system/outbox/outbox-store.js';
import type { RoleSurroundings } from '../system/role.js';
import { connectStock, type RedisStock } from '../system/stock/redis-stock.js';
import { BARS } from './bars.js';
import { median } from './bound.js';
import { compareAll, type Bench, type BenchTools } from './bench.js';
import type { Comparison } from './comparison.js';
import { callsOf, grownSku, openGrownSale, reserveAll } from './growth-rows.js';
import { cpuNanoseconds } from './process-cpu.js';
import { orderMessages, type Sale } from '../lab/size/sale.js';

const SIZES = [10_000, 100_000, 1_000_000] as const;
/** Few beside the smallest size, so that a size stays what it is over the rounds. */
const RESERVATIONS = 1_600;
const CLAIMS = 8;
const CLAIM_SIZE = 100;
const LEASE_MS = 3_600_000;
const ORDERS = 500;
const TRANSACTIONS = 3;
/** Units for the orders of all rounds. */
const UNITS = 20_000;
const PAGE = 500;

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
    const skus = new Map<number, SkuKey>();
    for (const size of SIZES) skus.set(size, await grownSku(stock, size));
    await untilRedisIsQuiet(stack);
    const at = (size: number): SkuKey => {
      const sku = skus.get(size);
      if (sku === undefined) throw new Error(`no SKU of ${String(size)}`);
      return sku;
    };
    let batches = 0;
    return await compareAll(tools, [
      over('redis-server µs per reservation', async (size) => {
        batches += 1;
        const calls = callsOf(`2${String(batches)}`, RESERVATIONS);
        const before = cpuNanoseconds(pid);
        await reserveAll(stock, at(size), calls, 1);
        return (cpuNanoseconds(pid) - before) / 1_000 / RESERVATIONS;
      }),
      over(`redis-server µs per claim of ${String(CLAIM_SIZE)} by the scanner`, async (size) => {
        const before = cpuNanoseconds(pid);
        for (let claim = 0; claim < CLAIMS; claim += 1) {
          const reply = await stock.claimPending(at(size), LEASE_MS, CLAIM_SIZE);
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

async function postgresGrowth(tools: BenchTools, sales: ReadonlyMap<number, Sale>): Promise<boolean> {
  const sides = new Map([...sales].map(([size, sale]) => [size, { ledger: createOrderLedger(sale.configOf('consumer'), surroundings), outbox: createOutboxStore(sale.configOf('consumer'), surroundings) }]));
  const at = (size: number) => {
    const side = sides.get(size);
    if (side === undefined) throw new Error(`no sale of ${String(size)}`);
    return side;
  };
  let claims = 0;
  try {
    return await compareAll(tools, [
      over(`ms per transaction of ${String(ORDERS)} orders`, async (size) => {
        const times: number[] = [];
        for (let transaction = 0; transaction < TRANSACTIONS; transaction += 1) {
          const messages = orderMessages(ORDERS);
          times.push(await timed(async () => {
            const { outcome } = await at(size).ledger.createOrders(messages);
            if (outcome !== 'committed') throw new Error(`a transaction was ${outcome}`);
          }));
        }
        return median(times);
      }),
      // Their events are those of the orders above.
      over(`ms per claim of ${String(PAGE)} events by the relay`, async (size) => {
        claims += 1;
        const claim = `bench-${String(claims)}`;
        return timed(async () => {
          const events = await at(size).outbox.claim(PAGE, claim);
          if (events.length !== PAGE) throw new Error(`a claim got ${String(events.length)} of ${String(PAGE)}`);
        });
      }),
    ]);
  } finally {
    for (const { ledger, outbox } of sides.values()) await Promise.all([ledger.close(), outbox.close()]);
  }
}

export const growthBench: Bench = {
  name: 'growth',
  async run(tools) {
    const stack = await tools.stack();
    const inRedis = await redisGrowth(tools, stack);
    const sales = new Map<number, Sale>();
    try {
      for (const size of SIZES) sales.set(size, await openGrownSale(stack, size, UNITS));
      return (await postgresGrowth(tools, sales)) && inRedis;
    } finally {
      for (const sale of sales.values()) await sale.close();
    }
  },
};

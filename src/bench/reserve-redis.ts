/**
 * `reserve-redis` and `reserve-soldout`: processor time of redis-server per request, the script key by key as paper `000` §8 lays it out against
 * ours, 64 requests a call. Same server, AOF and replica on, both sides pipelined alike.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import { namespaceOf } from '../domain/namespace.js';
import type { RunningStack } from '../stack/running-stack.js';
import { connectStock, type RedisStock } from '../system/stock/redis-stock.js';
import { LUA_DIRECTORY } from '../system/stock/script-loader.js';
import type { ReserveRequest } from '../system/stock/stock-port.js';
import { BARS } from './bars.js';
import { compareAll, type Bench } from './bench.js';
import type { Bound } from './bound.js';
import type { Comparison } from './comparison.js';
import { cpuNanoseconds } from './process-cpu.js';

const REQUESTS = 32_000;
const BATCH = 64;
const SKU = { activityId: '10001', skuId: '20001' };
/** As in the spikes: with it the script counts what it has accepted and tells when it was sold out, which costs more than a bare refusal. */
const MARK_MS = 500;
const HASH = 'a'.repeat(64);

type NaiveCommand = (...args: readonly (string | number)[]) => Promise<unknown>;

interface Path {
  readonly name: string;
  readonly figure: string;
  readonly units: number;
  readonly wanted: string;
  readonly bound: Bound;
}

/** Requests of one measurement; ids never repeat over measurements. */
function requestsOf(count: number): ReserveRequest[] {
  const reservedAtMs = Date.now();
  return Array.from({ length: count }, (_, index) => ({
    requestId: `${String(reservedAtMs)}-${String(index)}`,
    userId: `${String(reservedAtMs)}${String(index).padStart(5, '0')}`,
    payloadHash: HASH,
    reservationId: randomUUID(),
    messageId: randomUUID(),
    reservedAtMs,
    expiresAtMs: reservedAtMs + 300_000,
  }));
}

/** Every decision counts: one that was made another way costs something else. */
export function mustAllSay(wanted: string, codes: readonly (string | undefined)[], asked: number): void {
  const odd = codes.find((code) => code !== wanted);
  if (codes.length !== asked || odd !== undefined) throw new Error(`the bench asked ${String(asked)} times for ${wanted} and got ${String(codes.length)} decisions${odd === undefined ? '' : `, among them ${odd}`}`);
}

/** What stands in Redis before the first request. When nothing is left the mark of paper `000` §8.1 says so, else every refusal would be looked for as dearly as a sale. */
export async function stockNaively(redis: Pick<Redis, 'set' | 'hset'>, tag: string, units: number): Promise<void> {
  await redis.set(`${tag}:stock`, units);
  await redis.hset(`${tag}:meta`, 'status', 'open');
  if (units === 0) await redis.set(`${tag}:soldout`, '1');
}

async function naively(redis: Redis, requests: readonly ReserveRequest[], { units, wanted }: Path): Promise<void> {
  const tag = `naive:{${SKU.activityId}:${SKU.skuId}}`;
  await stockNaively(redis, tag, units);
  const command = (redis as unknown as { reserveKeyByKey: NaiveCommand }).reserveKeyByKey.bind(redis);
  for (let from = 0; from < requests.length; from += BATCH) {
    const batch = requests.slice(from, from + BATCH);
    const replies = await Promise.all(batch.map((request) =>
      command(
        `${tag}:meta`, `${tag}:stock`, `${tag}:user:${request.userId}`, `${tag}:req:${request.requestId}`, `${tag}:resv:${request.reservationId}`, `${tag}:resv:pending`, `${tag}:soldout`,
        request.requestId, request.userId, request.reservationId, request.messageId, HASH, request.reservedAtMs, request.expiresAtMs, 86_400,
      )));
    mustAllSay(wanted, replies.map((reply) => (Array.isArray(reply) ? String(reply[0]) : undefined)), batch.length);
  }
}

async function inBatches(stock: RedisStock, requests: readonly ReserveRequest[], { wanted }: Path): Promise<void> {
  for (let from = 0; from < requests.length; from += BATCH) {
    const batch = requests.slice(from, from + BATCH);
    const reply = await stock.reserve(SKU, batch);
    if (reply.outcome !== 'done') throw new Error(`the bench asked for ${wanted} and got ${JSON.stringify(reply).slice(0, 200)}`);
    mustAllSay(wanted, reply.decisions.map(({ code }) => code), batch.length);
  }
}

const PATHS: Readonly<Record<'success' | 'sold-out', Path>> = {
  success: { name: 'reserve-redis', figure: 'redis-server µs per reservation', units: REQUESTS, wanted: 'RESERVED', bound: BARS.reserve },
  'sold-out': { name: 'reserve-soldout', figure: 'redis-server µs per refusal', units: 0, wanted: 'SOLD_OUT', bound: BARS.soldOut },
};

/** Redis empty but for the stock of one SKU, lent to one side. Returns the µs of redis-server per request. */
async function measured(stack: RunningStack, { units }: Path, ask: (redis: Redis, stock: RedisStock, requests: readonly ReserveRequest[]) => Promise<void>): Promise<number> {
  const { redisPrimary } = stack.description.direct;
  const pid = stack.description.servers['redis-primary'].pid ?? 0;
  const redis = new Redis({ ...redisPrimary });
  await redis.flushall();
  const requests = requestsOf(REQUESTS);
  redis.defineCommand('reserveKeyByKey', { numberOfKeys: 7, lua: readFileSync(join(LUA_DIRECTORY, 'bench', 'reserve_key_by_key-7.lua'), 'utf8') });
  const stock = connectStock(redisPrimary, namespaceOf(`bench${String(Date.now() % 1_000_000)}`), { commandTimeoutMs: 10_000, soldOutMarkMs: MARK_MS });
  await stock.whenConnected(5_000);
  await stock.warmUp(SKU, { stock: units, meta: { activityVersion: '1', startAtMs: 0, endAtMs: 9e12, unitPrice: '1', currency: 'CNY', status: 'open', epoch: '1' } });
  try {
    const before = cpuNanoseconds(pid);
    await ask(redis, stock, requests);
    return (cpuNanoseconds(pid) - before) / 1_000 / REQUESTS;
  } finally {
    redis.disconnect();
    await stock.close();
  }
}

function comparisonOf(stack: RunningStack, path: Path): Comparison {
  const [naive, ours] = ['key by key', 'this, 64 a call'];
  return {
    name: path.name,
    figure: path.figure,
    sides: [
      { label: naive, measure: () => measured(stack, path, (redis, _stock, requests) => naively(redis, requests, path)) },
      { label: ours, measure: () => measured(stack, path, (_redis, stock, requests) => inBatches(stock, requests, path)) },
    ],
    bars: [{ over: naive, under: ours, bound: path.bound }],
  };
}

export function reserveBench(path: 'success' | 'sold-out'): Bench {
  return { name: PATHS[path].name, run: async (tools) => compareAll(tools, [comparisonOf(await tools.stack(), PATHS[path])]) };
}

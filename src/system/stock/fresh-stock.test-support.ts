/** For integration tests: a stock in a namespace of its own on the run's Redis, and a second connection to look and to break things. */
import { randomBytes, randomUUID } from 'node:crypto';

import { Redis } from 'ioredis';
import { inject } from 'vitest';

import type { SkuKey } from '../../domain/ids.js';
import { namespaceOf, type Namespace } from '../../domain/namespace.js';
import type { HostPort } from '../../domain/role-config.js';
import type { StackDescription } from '../../facts/stack-description.js';
import { stockKeys, type StockKeys } from './keys.js';
import { connectStock, type RedisStock, type StockOptions } from './redis-stock.js';
import type { ReserveRequest, SkuMeta } from './stock-port.js';

declare module 'vitest' {
  interface ProvidedContext {
    stack: StackDescription;
  }
}

export const SKU: SkuKey = { activityId: '10001', skuId: '20001' };

export const META: SkuMeta = {
  activityVersion: '3', startAtMs: 1_000, endAtMs: 9_000_000_000_000, unitPrice: '19.90', currency: 'CNY', status: 'open', epoch: '7',
};

export interface FreshStock extends AsyncDisposable {
  readonly stock: RedisStock;
  readonly direct: Redis;
  readonly namespace: Namespace;
  readonly keys: StockKeys;
  /** Another connection to the same namespace, by default at the server's own address. */
  connect(options?: StockOptions, address?: HostPort): Promise<RedisStock>;
  readonly address: HostPort;
}

/** A namespace with `units` in stock; without `units` nothing is warmed up. */
export async function freshStock(units: number | null, options: StockOptions = {}): Promise<FreshStock> {
  const address = inject('stack').direct.redisPrimary;
  const namespace = namespaceOf(`stock${randomBytes(6).toString('hex')}`);
  const keys = stockKeys(namespace.redisPrefix, SKU);
  const direct = new Redis({ ...address });
  const opened: RedisStock[] = [];
  const connect = async (more: StockOptions = {}, at: HostPort = address): Promise<RedisStock> => {
    const stock = connectStock(at, namespace, more);
    opened.push(stock);
    if (!(await stock.whenConnected(5_000))) throw new Error('no connection to Redis');
    return stock;
  };
  const stock = await connect(options);
  if (units !== null) {
    const warmed = await stock.warmUp(SKU, { stock: units, meta: META });
    if (warmed.outcome !== 'done' || warmed.value.status !== 'written') throw new Error(`warm-up: ${JSON.stringify(warmed)}`);
  }
  return {
    stock, direct, namespace, keys, connect, address,
    async [Symbol.asyncDispose]() {
      // Beside the stock: permits and holds.
      await direct.del(...(await direct.keys(`${namespace.redisPrefix}*`)), keys.stock);
      direct.disconnect();
      for (const one of opened) await one.close();
    },
  };
}

/** A request as the gateway makes it; `hash` tells payloads apart. */
export function request(requestId: string, userId: string, hash = 'a'): ReserveRequest {
  return {
    requestId, userId,
    payloadHash: hash.repeat(64).slice(0, 64),
    reservationId: randomUUID(),
    messageId: randomUUID(),
    reservedAtMs: 1_782_000_000_000,
    expiresAtMs: 1_782_000_300_000,
  };
}

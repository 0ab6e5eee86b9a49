/**
 * Orders a second from Kafka into PostgreSQL. Taken from the times that the database wrote into the orders, so that no start is in it; and only where every
 * order is whole.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Client } from 'pg';

import { encodeOrderMessage } from '../../domain/order-message.js';
import type { Strategies } from '../../domain/role-config.js';
import type { RunningStack } from '../../stack/running-stack.js';
import { createSteadyProducer } from '../../system/order-log/steady-producer.js';
import { openSale, orderMessages, startRoleProcess, type RunningRoleProcess, type Sale } from './sale.js';

export interface OrderSettings {
  readonly orders: number;
  readonly consumers: number;
  readonly strategies: Strategies;
  readonly poolSize: number;
}

interface Written {
  readonly orders: number;
  /** Of the first transaction: what it took lies before the first time. */
  readonly first: number;
  readonly seconds: number;
}

const TIMEOUT_MS = 60_000;
const BUDGET_MS = 30_000;

async function written(database: Client): Promise<Written> {
  const { rows } = await database.query<Written>(
    `SELECT count(*)::int AS orders, count(*) FILTER (WHERE created_at = (SELECT min(created_at) FROM orders))::int AS first,
            coalesce(extract(epoch FROM max(created_at) - min(created_at)), 0)::float8 AS seconds FROM orders`,
  );
  return rows[0] ?? { orders: 0, first: 0, seconds: 0 };
}

/** Throws unless the whole of every order is there: a faster transaction that writes less would be none. */
export async function rateOfWhole(database: Client, wanted: number): Promise<number> {
  const { orders, first, seconds } = await written(database);
  const { rows } = await database.query<Readonly<Record<'units' | 'items' | 'ledger' | 'inbox' | 'ordered' | 'events', number>>>(
    `SELECT greatest((SELECT count(*) FROM inventory_token WHERE status = 10), (SELECT sum(allocated_stock) FROM sku_inventory))::int AS units, (SELECT count(*) FROM order_items)::int AS items,
            (SELECT count(*) FROM inventory_ledger)::int AS ledger, (SELECT count(*) FROM consumer_inbox)::int AS inbox,
            (SELECT count(*) FROM inventory_reservation WHERE status = 10)::int AS ordered, (SELECT count(*) FROM event_outbox)::int AS events`,
  );
  const parts = rows[0];
  if (orders !== wanted || parts === undefined || [parts.units, parts.items, parts.ledger, parts.inbox, parts.ordered, parts.events / 2].some((count) => count !== wanted)) {
    throw new Error(`${String(wanted)} whole orders were wanted, there are ${String(orders)} with ${JSON.stringify(parts)}`);
  }
  return (orders - first) / seconds;
}

async function produce(stack: RunningStack, { namespace }: Sale, count: number): Promise<void> {
  const producer = createSteadyProducer({ address: stack.description.direct.kafka, clientId: 'orders-to-measure', topics: [namespace.ordersTopic], budgetMs: BUDGET_MS, log: () => undefined });
  const results = await Promise.all(orderMessages(count).map((message) => producer.send(namespace.ordersTopic, { key: message.reservationId, value: encodeOrderMessage(message) })));
  await producer.close();
  if (results.some(({ outcome }) => outcome !== 'sent')) throw new Error('the broker did not take the messages');
}

/** All messages lie in the topic before the first consumer starts. */
export async function measureOrderRate(stack: RunningStack, { orders, consumers, strategies, poolSize }: OrderSettings): Promise<number> {
  const sale = await openSale(stack, { units: orders, topics: true });
  const roles: RunningRoleProcess[] = [];
  try {
    await produce(stack, sale, orders);
    const configs = Array.from({ length: consumers }, (_, place) => sale.configOf('consumer', { number: place + 1, strategies, tuning: { postgresPoolSize: poolSize } }));
    await Promise.all(configs.map(async (config) => roles.push(await startRoleProcess(stack, config))));
    const endsAt = performance.now() + TIMEOUT_MS;
    while ((await written(sale.database)).orders < orders && performance.now() < endsAt) await delay(100);
    await Promise.all(roles.map((role) => role.stop()));
    return await rateOfWhole(sale.database, orders);
  } finally {
    await sale.close();
  }
}

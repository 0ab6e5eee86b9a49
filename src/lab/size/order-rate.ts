/**
 * Orders a second from Kafka into PostgreSQL. Taken from the commits that the database recorded, so that no start is in it; and only where every order is whole.
 */
import { setTimeout as delay } from 'node:timers/promises';

import type { Client } from 'pg';

import { encodeOrderMessage } from '../../domain/order-message.js';
import type { Strategies } from '../../domain/role-config.js';
import type { RunningStack } from '../../stack/running-stack.js';
import { createSteadyProducer } from '../../system/order-log/steady-producer.js';
import { openSale, orderMessages, PARTITIONS, startRoleProcess, type RunningRoleProcess, type Sale } from './sale.js';

export interface OrderSettings {
  readonly orders: number;
  readonly consumers: number;
  readonly strategies: Strategies;
  readonly poolSize: number;
}

/** What was committed at one moment. */
export interface Commit {
  readonly orders: number;
  /** Seconds since the epoch. */
  readonly at: number;
}

const TIMEOUT_MS = 60_000;
const BUDGET_MS = 30_000;
/** The broker takes so many at once from a producer whose queue holds twice as many. */
const PRODUCED_AT_ONCE = 10_000;
/** Fewer transactions a lane than this, and the rate would be that of how the lanes started. */
export const TRANSACTIONS_PER_LANE = 3;

/** Transactions that one consumer has under way at once: one a partition of messages taken together, one a connection of single ones. */
export function lanesOf({ strategies, poolSize, consumers }: Pick<OrderSettings, 'strategies' | 'poolSize' | 'consumers'>): number {
  return strategies.consumer === 'single' ? poolSize * consumers : PARTITIONS;
}

/**
 * Orders a second of `lanes` that work side by side. All of them start together and what their first transactions took lies before their commits, so the clock runs
 * from the last of those first commits to the very last one. Throws where too few came after it.
 */
export function rateOfCommits(commits: readonly Commit[], lanes: number): number {
  if (commits.length < TRANSACTIONS_PER_LANE * lanes) {
    throw new Error(`${String(commits.length)} transactions of ${String(lanes)} at a time are no rate: ${String(TRANSACTIONS_PER_LANE)} of each lane are needed`);
  }
  const rising = commits.toSorted((left, right) => left.at - right.at);
  const [last, begin] = [rising.at(-1)?.at ?? Number.NaN, rising[lanes - 1]?.at ?? Number.NaN];
  return rising.slice(lanes).reduce((sum, commit) => sum + commit.orders, 0) / (last - begin);
}

async function commitsOf(database: Client): Promise<readonly Commit[]> {
  const { rows } = await database.query<Commit>('SELECT count(*)::int AS orders, extract(epoch FROM pg_xact_commit_timestamp(xmin))::float8 AS at FROM orders GROUP BY pg_xact_commit_timestamp(xmin)');
  return rows;
}

async function ordersIn(database: Client): Promise<number> {
  const { rows } = await database.query<{ readonly orders: number }>('SELECT count(*)::int AS orders FROM orders');
  return rows[0]?.orders ?? 0;
}

/** Throws unless the whole of every order is there: a faster transaction that writes less would be none. */
export async function rateOfWhole(database: Client, wanted: number, lanes: number): Promise<number> {
  const orders = await ordersIn(database);
  const { rows } = await database.query<Readonly<Record<'units' | 'items' | 'ledger' | 'inbox' | 'ordered' | 'events', number>>>(
    `SELECT greatest((SELECT count(*) FROM inventory_token WHERE status = 10), (SELECT sum(allocated_stock) FROM sku_inventory))::int AS units, (SELECT count(*) FROM order_items)::int AS items,
            (SELECT count(*) FROM inventory_ledger)::int AS ledger, (SELECT count(*) FROM consumer_inbox)::int AS inbox,
            (SELECT count(*) FROM inventory_reservation WHERE status = 10)::int AS ordered, (SELECT count(*) FROM event_outbox)::int AS events`,
  );
  const parts = rows[0];
  if (orders !== wanted || parts === undefined || [parts.units, parts.items, parts.ledger, parts.inbox, parts.ordered, parts.events / 2].some((count) => count !== wanted)) {
    throw new Error(`${String(wanted)} whole orders were wanted, there are ${String(orders)} with ${JSON.stringify(parts)}`);
  }
  return rateOfCommits(await commitsOf(database), lanes);
}

async function produce(stack: RunningStack, { namespace }: Sale, count: number): Promise<void> {
  const producer = createSteadyProducer({ address: stack.description.direct.kafka, clientId: 'orders-to-measure', topics: [namespace.ordersTopic], budgetMs: BUDGET_MS, log: () => undefined });
  try {
    for (let from = 0; from < count; from += PRODUCED_AT_ONCE) {
      const messages = orderMessages(Math.min(PRODUCED_AT_ONCE, count - from));
      const results = await Promise.all(messages.map((message) => producer.send(namespace.ordersTopic, { key: message.reservationId, value: encodeOrderMessage(message) })));
      if (results.some(({ outcome }) => outcome !== 'sent')) throw new Error('the broker did not take the messages');
    }
  } finally {
    await producer.close();
  }
}

/** All messages lie in the topic before the first consumer starts. */
export async function measureOrderRate(stack: RunningStack, settings: OrderSettings): Promise<number> {
  const { orders, consumers, strategies, poolSize } = settings;
  const sale = await openSale(stack, { units: orders, topics: true });
  const roles: RunningRoleProcess[] = [];
  try {
    await produce(stack, sale, orders);
    const configs = Array.from({ length: consumers }, (_, place) => sale.configOf('consumer', { number: place + 1, strategies, tuning: { postgresPoolSize: poolSize } }));
    await Promise.all(configs.map(async (config) => roles.push(await startRoleProcess(stack, config))));
    const endsAt = performance.now() + TIMEOUT_MS;
    while ((await ordersIn(sale.database)) < orders && performance.now() < endsAt) await delay(100);
    await Promise.all(roles.map((role) => role.stop()));
    return await rateOfWhole(sale.database, orders, lanesOf(settings));
  } finally {
    await sale.close();
  }
}

/**
 * `consumer`: orders a second of `batch:500` from Kafka into PostgreSQL, against the same set-based transaction driven by pgbench from one connection, and
 * against `single`. The rate is taken from the times that the database wrote into the orders, so that no start is in it.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { Client } from 'pg';

import { encodeOrderMessage } from '../domain/order-message.js';
import type { ConsumerStrategy } from '../domain/role-config.js';
import type { RunningStack } from '../stack/running-stack.js';
import { createSteadyProducer } from '../system/order-log/steady-producer.js';
import { BARS } from './bars.js';
import { compareAll, type Bench } from './bench.js';
import type { Comparison } from './comparison.js';
import { peerTool } from './peer-tools.js';
import { preparePgbench } from './pgbench-script.js';
import { openSale, orderMessages, startRoleProcess, type Sale } from './sale.js';

const BATCH = 500;
const ORDERS = 10_000;
/** Fewer: they take ten times as long each. */
const ORDERS_ONE_BY_ONE = 2_000;
const TIMEOUT_MS = 60_000;

const run = promisify(execFile);

interface Written {
  readonly orders: number;
  /** Of the first transaction: what it took lies before the first time. */
  readonly first: number;
  readonly seconds: number;
}

async function written(database: Client): Promise<Written> {
  const { rows } = await database.query<Written>(
    `SELECT count(*)::int AS orders, count(*) FILTER (WHERE created_at = (SELECT min(created_at) FROM orders))::int AS first,
            coalesce(extract(epoch FROM max(created_at) - min(created_at)), 0)::float8 AS seconds FROM orders`,
  );
  return rows[0] ?? { orders: 0, first: 0, seconds: 0 };
}

/** Throws unless the whole of every order is there: a faster transaction that writes less would be none. */
async function rateOf(database: Client, wanted: number): Promise<number> {
  const { orders, first, seconds } = await written(database);
  const { rows } = await database.query<{ tokens: number; items: number; ledger: number; inbox: number; ordered: number; events: number }>(
    `SELECT (SELECT count(*) FROM inventory_token WHERE status = 10)::int AS tokens, (SELECT count(*) FROM order_items)::int AS items, (SELECT count(*) FROM inventory_ledger)::int AS ledger,
            (SELECT count(*) FROM consumer_inbox)::int AS inbox, (SELECT count(*) FROM inventory_reservation WHERE status = 10)::int AS ordered, (SELECT count(*) FROM event_outbox)::int AS events`,
  );
  const parts = rows[0];
  if (orders !== wanted || parts === undefined || [parts.tokens, parts.items, parts.ledger, parts.inbox, parts.ordered, parts.events / 2].some((count) => count !== wanted)) {
    throw new Error(`${String(wanted)} whole orders were wanted, there are ${String(orders)} with ${JSON.stringify(parts)}`);
  }
  return (orders - first) / seconds;
}

async function produce(stack: RunningStack, { namespace }: Sale, count: number): Promise<void> {
  const producer = createSteadyProducer({ address: stack.description.direct.kafka, clientId: 'bench', topics: [namespace.ordersTopic], budgetMs: 30_000, log: () => undefined });
  const results = await Promise.all(orderMessages(count).map((message) => producer.send(namespace.ordersTopic, { key: message.reservationId, value: encodeOrderMessage(message) })));
  await producer.close();
  if (results.some(({ outcome }) => outcome !== 'sent')) throw new Error('the broker did not take the messages');
}

async function throughKafka(stack: RunningStack, consumer: ConsumerStrategy, orders: number): Promise<number> {
  const sale = await openSale(stack, { units: orders, topics: true });
  try {
    await produce(stack, sale, orders);
    const role = await startRoleProcess(stack, sale.configOf('consumer', { consumer }));
    try {
      const endsAt = performance.now() + TIMEOUT_MS;
      while ((await written(sale.database)).orders < orders && performance.now() < endsAt) await delay(100);
    } finally {
      await role.stop();
    }
    return await rateOf(sale.database, orders);
  } finally {
    await sale.close();
  }
}

async function byPgbench(stack: RunningStack, pgbench: string): Promise<number> {
  const sale = await openSale(stack, { units: ORDERS });
  const directory = await mkdtemp(join(tmpdir(), 'seckill-bench-'));
  try {
    const script = join(directory, 'orders.sql');
    await writeFile(script, await preparePgbench(sale.database, sale.namespace, orderMessages(ORDERS), BATCH));
    const { host, port, user, password } = stack.description.direct.postgres;
    const args = ['-n', '-M', 'prepared', '-c', '1', '-j', '1', '-t', String(ORDERS / BATCH), '-f', script, '-h', host, '-p', String(port), '-U', user, sale.namespace.database];
    const { stderr } = await run(pgbench, args, { env: { ...process.env, PGPASSWORD: password } });
    if (/error|aborted/i.test(stderr)) throw new Error(`pgbench failed: ${stderr}`);
    return await rateOf(sale.database, ORDERS);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await sale.close();
  }
}

function comparisonOf(stack: RunningStack, pgbench: string): Comparison {
  const [peer, batch, single] = ['pgbench, the same transaction', 'batch:500 through Kafka', 'single through Kafka'];
  return {
    name: 'consumer', figure: 'orders a second',
    sides: [
      { label: peer, measure: () => byPgbench(stack, pgbench) },
      { label: batch, measure: () => throughKafka(stack, `batch:${BATCH}`, ORDERS) },
      { label: single, measure: () => throughKafka(stack, 'single', ORDERS_ONE_BY_ONE) },
    ],
    bars: [{ over: batch, under: peer, bound: BARS.consumerOfPgbench }, { over: batch, under: single, bound: BARS.consumerOfSingle }],
  };
}

export const consumerBench: Bench = {
  name: 'consumer',
  async run(tools) {
    const pgbench = peerTool('pgbench');
    return compareAll(tools, [comparisonOf(await tools.stack(), pgbench)]);
  },
};

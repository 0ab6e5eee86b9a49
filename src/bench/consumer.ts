/**
 * `consumer`: orders a second of `batch:500` from Kafka into PostgreSQL, against the same set-based transaction driven by pgbench, and against `single`. The consumer
 * has a transaction under way for each of the topic's four partitions, so pgbench has four clients.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { DEFAULT_TUNING } from '../domain/role-config.js';
import { measureOrderRate, rateOfWhole } from '../lab/size/order-rate.js';
import { openSale, orderMessages, PARTITIONS } from '../lab/size/sale.js';
import type { RunningStack } from '../stack/running-stack.js';
import { BARS } from './bars.js';
import { compareAll, type Bench } from './bench.js';
import { spread } from './bound.js';
import type { Comparison } from './comparison.js';
import { peerTool } from './peer-tools.js';
import { preparePgbench } from './pgbench-script.js';

const BATCH = 500;
const ORDERS = 10_000;
/** Of the consumer, one a partition, and so of pgbench. */
const AT_ONCE = PARTITIONS;
/** Fewer: they take ten times as long each. */
const ORDERS_ONE_BY_ONE = 2_000;

const run = promisify(execFile);

/** A run of pgbench over all batches; with its report. */
type Pgbench = (script: string) => Promise<string>;

function pgbenchOn(stack: RunningStack, program: string, database: string, directory: string): Pgbench {
  const { host, port, user, password } = stack.description.direct.postgres;
  return async (script) => {
    const file = join(directory, 'orders.sql');
    await writeFile(file, script);
    const args = ['-n', '-M', 'prepared', '-c', String(AT_ONCE), '-j', '1', '-t', String(ORDERS / BATCH / AT_ONCE), '-f', file, '-h', host, '-p', String(port), '-U', user, database];
    const { stdout, stderr } = await run(program, args, { env: { ...process.env, PGPASSWORD: password } });
    if (/error|aborted/i.test(stderr)) throw new Error(`pgbench failed: ${stderr}`);
    return stdout;
  };
}

/** Mean of a round, by pgbench's report. */
export function roundMs(report: string): number {
  return Number(/latency average = ([0-9.]+) ms/.exec(report)?.[1] ?? Number.NaN);
}

/** Shares of pgbench's time in which it only fetched the columns of its batch, which lies inside of what is measured and has no counterpart in the transaction. */
type ReadingShares = number[];

async function byPgbench(stack: RunningStack, program: string, reading: ReadingShares): Promise<number> {
  const sale = await openSale(stack, { units: ORDERS });
  const directory = await mkdtemp(join(tmpdir(), 'seckill-bench-'));
  try {
    const { read, write } = await preparePgbench(sale.database, sale.namespace, orderMessages(ORDERS), BATCH);
    const pgbench = pgbenchOn(stack, program, sale.namespace.database, directory);
    const readMs = roundMs(await pgbench(read));
    await sale.database.query('ALTER SEQUENCE bench_batches RESTART');
    reading.push((100 * readMs) / roundMs(await pgbench(`${read}\n${write}`)));
    return await rateOfWhole(sale.database, ORDERS, AT_ONCE);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await sale.close();
  }
}

function comparisonOf(stack: RunningStack, pgbench: string): Comparison {
  const [peer, batch, single] = [`pgbench, the same transaction, ${String(AT_ONCE)} at once`, `batch:${String(BATCH)} through Kafka, ${String(AT_ONCE)} at once`, 'single through Kafka'];
  const reading: ReadingShares = [];
  const same = { consumers: 1, poolSize: DEFAULT_TUNING.postgresPoolSize } as const;
  return {
    name: 'consumer', figure: 'orders a second',
    sides: [
      { label: peer, measure: () => byPgbench(stack, pgbench, reading) },
      { label: batch, measure: () => measureOrderRate(stack, { ...same, orders: ORDERS, strategies: { consumer: `batch:${BATCH}`, allocator: 'token' } }) },
      { label: single, measure: () => measureOrderRate(stack, { ...same, orders: ORDERS_ONE_BY_ONE, strategies: { consumer: 'single', allocator: 'token' } }) },
    ],
    bars: [{ over: batch, under: peer, bound: BARS.consumerOfPgbench }, { over: batch, under: single, bound: BARS.consumerOfSingle }],
    notes: () => [`pgbench fetches its batches in ${spread(reading)} % of its time, which is in its figure`],
  };
}

export const consumerBench: Bench = {
  name: 'consumer',
  async run(tools) {
    const pgbench = peerTool('pgbench');
    return compareAll(tools, [comparisonOf(await tools.stack(), pgbench)]);
  },
};

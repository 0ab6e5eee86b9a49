/**
 * `consumer`: orders a second of `batch:500` from Kafka into PostgreSQL, against the same set-based transaction driven by pgbench from one connection, and
 * against `single`.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { DEFAULT_TUNING } from '../domain/role-config.js';
import { measureOrderRate, rateOfWhole } from '../lab/size/order-rate.js';
import { openSale, orderMessages } from '../lab/size/sale.js';
import type { RunningStack } from '../stack/running-stack.js';
import { BARS } from './bars.js';
import { compareAll, type Bench } from './bench.js';
import type { Comparison } from './comparison.js';
import { peerTool } from './peer-tools.js';
import { preparePgbench } from './pgbench-script.js';

const BATCH = 500;
const ORDERS = 10_000;
/** Fewer: they take ten times as long each. */
const ORDERS_ONE_BY_ONE = 2_000;

const run = promisify(execFile);

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
    return await rateOfWhole(sale.database, ORDERS);
  } finally {
    await rm(directory, { recursive: true, force: true });
    await sale.close();
  }
}

function comparisonOf(stack: RunningStack, pgbench: string): Comparison {
  const [peer, batch, single] = ['pgbench, the same transaction', `batch:${String(BATCH)} through Kafka`, 'single through Kafka'];
  const same = { consumers: 1, poolSize: DEFAULT_TUNING.postgresPoolSize } as const;
  return {
    name: 'consumer', figure: 'orders a second',
    sides: [
      { label: peer, measure: () => byPgbench(stack, pgbench) },
      { label: batch, measure: () => measureOrderRate(stack, { ...same, orders: ORDERS, strategies: { consumer: `batch:${BATCH}`, allocator: 'token' } }) },
      { label: single, measure: () => measureOrderRate(stack, { ...same, orders: ORDERS_ONE_BY_ONE, strategies: { consumer: 'single', allocator: 'token' } }) },
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

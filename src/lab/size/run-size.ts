/**
 * The knees of this machine (paper `001` §10.5): one setting after the other is swept, each with the knees of those before it, all of one setting's values turn
 * and turn about. There is one stock per SKU and no strategy that splits it into buckets, so there are none to size; what stands in their place is how a unit is claimed.
 */
import type { AllocatorStrategy, ConsumerStrategy } from '../../domain/role-config.js';
import { DEFAULT_TUNING } from '../../domain/role-config.js';
import type { RunningStack } from '../../stack/running-stack.js';
import { kneeOf, type SizedValue } from './knee.js';
import { measureOrderRate, TRANSACTIONS_PER_LANE, type OrderSettings } from './order-rate.js';
import { PARTITIONS } from './sale.js';

export const POOL_SIZES = [8, 16, 32, 64, 128] as const;
export const BATCH_SIZES = [50, 100, 250, 500, 1_000, 2_000] as const;
export const CONSUMERS = [1, 2, 3, 4] as const;
export const ALLOCATORS = ['token', 'row'] as const satisfies readonly AllocatorStrategy[];

/** Orders that a batch of this size needs so that each partition has transactions enough for a rate. */
const ordersFor = (batch: number): number => batch * PARTITIONS * TRANSACTIONS_PER_LANE;
/** Fewest orders of a measurement: enough for batches of 500, and a tenth of them for 128 single transactions at a time. */
export const ORDERS_MIN = ordersFor(500);
/** Enough for the largest batches. */
export const ORDERS_USUAL = ordersFor(2_000);

export interface SizeTable {
  /** As the command line names it. */
  readonly setting: string;
  /** What is the same for all of its values. */
  readonly with: string;
  readonly rows: readonly SizedValue<string | number>[];
  readonly knee: string | number;
}

export interface SizeOptions {
  readonly repeats: number;
  /** Orders of a measurement with batches; a tenth of them one by one. */
  readonly orders: number;
  /** Told before every measurement. */
  onMeasure(text: string): void;
  /** Left out: `measureOrderRate`. */
  readonly measure?: typeof measureOrderRate;
}

async function sweep<Value extends string | number>(stack: RunningStack, options: SizeOptions, setting: string, values: readonly Value[], settingsOf: (value: Value) => OrderSettings): Promise<readonly SizedValue<Value>[]> {
  const rates = new Map<Value, number[]>(values.map((value) => [value, []]));
  for (let repeat = 1; repeat <= options.repeats; repeat += 1) {
    for (const value of values) {
      options.onMeasure(`${setting} ${String(value)}, ${String(repeat)} of ${String(options.repeats)}`);
      rates.get(value)?.push(await (options.measure ?? measureOrderRate)(stack, settingsOf(value)));
    }
  }
  return values.map((value) => ({ value, rates: rates.get(value) ?? [] }));
}

/** Rejects as the measurements do: a setting under which orders are lost has no rate. Batches that the orders are too few for are left out, and the table says so. */
export async function runSize(stack: RunningStack, options: SizeOptions): Promise<readonly SizeTable[]> {
  const { orders } = options;
  const sizes = BATCH_SIZES.filter((batch) => orders >= ordersFor(batch));
  const leftOut = BATCH_SIZES.filter((batch) => !sizes.includes(batch)).map((batch) => `; ${String(batch)} left out, for it --orders ${String(ordersFor(batch))}`);
  const usual = { consumers: 1, poolSize: DEFAULT_TUNING.postgresPoolSize } as const;
  const batched = (size: number): ConsumerStrategy => `batch:${size}`;
  const pools = await sweep(stack, options, 'pool size', POOL_SIZES, (poolSize) => ({ orders: Math.ceil(orders / 10), consumers: 1, strategies: { consumer: 'single', allocator: 'token' }, poolSize }));
  const batches = await sweep(stack, options, 'batch', sizes, (size) => ({ ...usual, orders, strategies: { consumer: batched(size), allocator: 'token' } }));
  const size = kneeOf(batches).value;
  const consumers = await sweep(stack, options, 'consumers', CONSUMERS, (count) => ({ ...usual, orders, consumers: count, strategies: { consumer: batched(size), allocator: 'token' } }));
  const count = kneeOf(consumers).value;
  const allocators = await sweep(stack, options, 'allocator', ALLOCATORS, (allocator) => ({ ...usual, orders, consumers: count, strategies: { consumer: batched(size), allocator } }));
  return [
    { setting: 'pool size', with: 'single, 1 consumer', rows: pools, knee: kneeOf(pools).value },
    { setting: 'batch', with: `1 consumer${leftOut.join('')}`, rows: batches, knee: size },
    { setting: 'consumers', with: batched(size), rows: consumers, knee: count },
    { setting: 'allocator', with: `${batched(size)}, ${String(count)} consumers`, rows: allocators, knee: kneeOf(allocators).value },
  ];
}

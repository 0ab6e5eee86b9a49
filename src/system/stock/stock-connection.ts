/**
 * What every operation of the stock shares: the connection with its scripts defined, the keys of a SKU, and one way to call a script.
 *
 * Scripts go through `defineCommand`: it falls back to EVAL on NOSCRIPT (SCRIPT FLUSH, failover, restart), which is safe since a NOSCRIPT
 * surely did not run. A raw EVALSHA would fail there.
 */
import assert from 'node:assert';

import type { Redis } from 'ioredis';

import type { SkuKey } from '../../domain/ids.js';
import type { CounterRecorder, HistogramRecorder, RoleMetrics } from '../role-metrics.js';
import type { CallResult } from './call-failure.js';
import { stockKeys, type StockKeys } from './keys.js';
import { callRedis } from './redis-connection.js';
import { SCRIPT_NAMES, type Script, type ScriptName } from './script-loader.js';

export interface StockConnection {
  readonly redis: Redis;
  keys(sku: SkuKey): StockKeys;
  /** Runs a script; done: its reply, an array of strings whose first is the status. Never rejects for an operating failure. */
  script(name: ScriptName, keys: readonly string[], args: readonly (string | number)[]): Promise<CallResult<readonly string[]>>;
  /** A reserve call is about to ask about so many purchases. */
  asksAbout(purchases: number): void;
  /** Runs any other command through the same gate and the same metrics. */
  command<T>(operation: string, call: () => Promise<T>): Promise<CallResult<T>>;
}

/**
 * ioredis falls back to EVAL once per command. With many commands in flight the repeat may be an EVALSHA again (another command has just
 * loaded the script) and meet the next flush; it is as safe to repeat as the first time.
 */
const NOSCRIPT_ATTEMPTS = 5;

type ScriptCommand = (...args: readonly (string | number)[]) => Promise<unknown>;

interface OperationRecorders {
  readonly duration: HistogramRecorder;
  readonly refused: CounterRecorder;
  readonly unknown: CounterRecorder;
}

/** Defines the scripts on the connection and binds it to the key prefix of a namespace. */
export function bindStock(redis: Redis, redisPrefix: string, scripts: readonly Script[], metrics: RoleMetrics | null): StockConnection {
  const commands = defineScripts(redis, scripts);
  const keysBySku = new Map<string, StockKeys>();
  const recorders = new Map<string, OperationRecorders>();
  const asked = metrics?.counter('reservation_lua_requests_total', 'Purchases about which Redis was asked, each time it was asked: what no memory of a gateway, no line and no deadline kept away');

  async function command<T>(operation: string, call: () => Promise<T>): Promise<CallResult<T>> {
    if (metrics === null) return callRedis(redis, call);
    let recorder = recorders.get(operation);
    if (recorder === undefined) recorders.set(operation, (recorder = recordersOf(metrics, operation)));
    const startedAt = performance.now();
    const result = await callRedis(redis, call);
    recorder.duration.observe((performance.now() - startedAt) / 1_000);
    if (result.outcome === 'surely-not-done') recorder.refused.add();
    if (result.outcome === 'unknown') recorder.unknown.add();
    return result;
  }

  return {
    redis,
    command,
    asksAbout(purchases) {
      asked?.add(purchases);
    },
    keys(sku) {
      const name = `${sku.activityId}:${sku.skuId}`;
      let keys = keysBySku.get(name);
      if (keys === undefined) keysBySku.set(name, (keys = stockKeys(redisPrefix, sku)));
      return keys;
    },
    async script(name, keys, args) {
      let result = await command(name, () => commands[name](...keys, ...args));
      for (let attempt = 1; attempt < NOSCRIPT_ATTEMPTS && result.outcome === 'surely-not-done' && result.reason.startsWith('NOSCRIPT'); attempt += 1) {
        result = await command(name, () => commands[name](...keys, ...args));
      }
      if (result.outcome !== 'done') return result;
      assert(isReply(result.value), `${name} answered something that is no array of strings`);
      return { outcome: 'done', value: result.value };
    },
  };
}

function defineScripts(redis: Redis, scripts: readonly Script[]): Readonly<Record<ScriptName, ScriptCommand>> {
  for (const script of scripts) redis.defineCommand(script.name, { lua: script.source, numberOfKeys: script.numberOfKeys });
  // ioredis types custom commands only through a global interface; this is the one place that names them.
  const client = redis as unknown as Record<string, ScriptCommand>;
  const bind = (name: ScriptName): ScriptCommand => {
    const command = client[name];
    assert(command !== undefined, `the script ${name} is not defined`);
    return command.bind(redis);
  };
  return Object.fromEntries(SCRIPT_NAMES.map((name) => [name, bind(name)])) as Record<ScriptName, ScriptCommand>;
}

function isReply(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((element) => typeof element === 'string');
}

function recordersOf(metrics: RoleMetrics, operation: string): OperationRecorders {
  const errors = (outcome: string): CounterRecorder =>
    metrics.counter('reservation_lua_errors', 'Redis calls that did not end as done', { operation, outcome });
  return {
    duration: metrics.histogram('reservation_lua_duration', 'Seconds of a call to Redis, script or command, as the role sees it', { operation }),
    refused: errors('surely-not-done'),
    unknown: errors('unknown'),
  };
}

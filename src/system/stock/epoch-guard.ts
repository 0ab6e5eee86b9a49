/**
 * A connection may reserve only on the Redis it knows (DESIGN §4). After each reconnect the other end may be another server: a promoted
 * replica that lacks the last reservations, or the same one restarted from an older file. So each new connection first compares the
 * server's run id with the one that warm-up or a rebuild wrote, and takes the epoch from the same meta; the reserve script then checks that
 * epoch. An epoch only rises: a lower one than was known before, or none where there was one, is an older state of the same server.
 */
import type { SkuKey } from '../../domain/ids.js';
import type { CallFailure } from './call-failure.js';
import { readMeta } from './lookup.js';
import type { StockConnection } from './stock-connection.js';

/** What a reserve call must present. */
export interface KnownEpoch {
  readonly epoch: string;
  readonly activityVersion: string;
}

export type EpochAnswer =
  | { readonly outcome: 'known'; readonly known: KnownEpoch }
  /** Nothing was warmed up here. */
  | { readonly outcome: 'not-warm' }
  /** Not this server, or an older state of it, or a rebuild is under way: nothing may be reserved until that has ended. */
  | { readonly outcome: 'paused'; readonly why: 'other-server' | 'older-epoch' | 'lost' | 'rebuilding' }
  | CallFailure;

export interface EpochGuard {
  /** The epoch learnt on the present connection, at once; null when it has to be asked for. */
  known(sku: SkuKey): KnownEpoch | null;
  /** Asks the server; concurrent callers share one question. */
  learn(sku: SkuKey): Promise<EpochAnswer>;
  /** After EPOCH_MISMATCH or NOT_READY: ask again before the next call. */
  forget(sku: SkuKey): void;
}

export function createEpochGuard(connection: StockConnection): EpochGuard {
  const known = new Map<string, KnownEpoch>();
  const asking = new Map<string, Promise<EpochAnswer>>();
  /** The highest epoch ever known here, over all connections. */
  const highest = new Map<string, number>();
  let generation = 0;
  connection.redis.on('close', () => {
    generation += 1;
    known.clear();
    asking.clear();
  });

  async function ask(sku: SkuKey, name: string): Promise<EpochAnswer> {
    const askedIn = generation;
    const [meta, server] = await Promise.all([
      readMeta(connection, sku),
      connection.command('run-id', () => connection.redis.info('server')),
    ]);
    if (meta.outcome !== 'done') return meta;
    if (server.outcome !== 'done') return server;
    if (askedIn !== generation) return { outcome: 'surely-not-done', reason: 'the connection was lost while its epoch was read' };
    const before = highest.get(name);
    if (meta.value === null) return before === undefined ? { outcome: 'not-warm' } : { outcome: 'paused', why: 'lost' };
    if (runIdOf(server.value) !== meta.value.runId) return { outcome: 'paused', why: 'other-server' };
    if (before !== undefined && epochNumber(meta.value.epoch) < before) return { outcome: 'paused', why: 'older-epoch' };
    if (meta.value.status === 'paused') return { outcome: 'paused', why: 'rebuilding' };
    highest.set(name, epochNumber(meta.value.epoch));
    const answer: KnownEpoch = { epoch: meta.value.epoch, activityVersion: meta.value.activityVersion };
    known.set(name, answer);
    return { outcome: 'known', known: answer };
  }

  return {
    known: (sku) => known.get(nameOf(sku)) ?? null,
    forget(sku) {
      known.delete(nameOf(sku));
    },
    learn(sku) {
      const name = nameOf(sku);
      const running = asking.get(name);
      if (running !== undefined) return running;
      const question = ask(sku, name).finally(() => {
        if (asking.get(name) === question) asking.delete(name);
      });
      asking.set(name, question);
      return question;
    },
  };
}

function nameOf(sku: SkuKey): string {
  return `${sku.activityId}:${sku.skuId}`;
}

/** Epochs are whole numbers in decimal; anything else is older than all of them. */
export function epochNumber(epoch: string): number {
  return /^[0-9]{1,15}$/.test(epoch) ? Number(epoch) : 0;
}

/** `run_id` of a reply to `INFO server`; empty when it has none. */
export function runIdOf(info: string): string {
  return /^run_id:([0-9a-f]+)/m.exec(info)?.[1] ?? '';
}

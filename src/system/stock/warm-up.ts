/** Opening a SKU in Redis by `lua/warm_up-5.lua`. Used by seeding and by a rebuild. */
import type { SkuKey } from '../../domain/ids.js';
import type { CallResult } from './call-failure.js';
import type { StockConnection } from './stock-connection.js';
import type { WarmUp } from './stock-port.js';

/** `leftovers`: some keys of the SKU are there without stock and meta; a rebuild has to remove them knowingly. */
export interface WarmUpResult {
  readonly status: 'written' | 'already-there' | 'leftovers';
  /** The epoch that is in Redis now; empty when there is none. */
  readonly epoch: string;
}

/** Writes stock and meta only where nothing is there yet. Safe to repeat. */
export async function warmUp(connection: StockConnection, sku: SkuKey, { stock, meta }: WarmUp): Promise<CallResult<WarmUpResult>> {
  const keys = connection.keys(sku);
  const { epoch, ...rest } = meta;
  const fields = Object.entries(rest).flatMap(([field, value]) => [field, String(value)]);
  const result = await connection.script(
    'warm_up',
    [keys.stock, keys.meta, keys.requests, keys.users, keys.pending],
    [stock, epoch, ...fields],
  );
  if (result.outcome !== 'done') return result;
  const [code, there] = result.value;
  const status = code === 'WRITTEN' ? 'written' : code === 'ALREADY' ? 'already-there' : 'leftovers';
  return { outcome: 'done', value: { status, epoch: there ?? '' } };
}

/** From a record of the orders topic to an order message that the tables can hold, or the reason why not. */
import { parseOrderMessage, type OrderMessage } from '../../domain/order-message.js';
import type { ReceivedMessage } from '../order-log/order-log-port.js';

const SMALLINT_MAX = 32_767;
const INT8_MAX = 9_223_372_036_854_775_807n;
/** PostgreSQL's timestamps end later; a reservation beyond the year 9999 is no reservation. */
const LATEST_MS = 253_402_300_799_999;

export type ReadMessage = { readonly ok: true; readonly message: OrderMessage } | { readonly ok: false; readonly problem: string };

/** Never throws: a malformed value is data. Values that fit the schema but no column would fail for ever, so they are malformed too. */
export function readMessage(record: Pick<ReceivedMessage, 'value'>): ReadMessage {
  const parsed = parseOrderMessage(record.value);
  if (!parsed.ok) return { ok: false, problem: parsed.problems.join('; ') };
  const { message } = parsed;
  const problems: string[] = [];
  if (message.purchaseNo > SMALLINT_MAX) problems.push('purchaseNo is too large');
  if (BigInt(message.activityVersion) > INT8_MAX) problems.push('activityVersion is too large');
  if (message.reservedAtMs < 0 || message.expiresAtMs > LATEST_MS) problems.push('a time is outside of the years 1970 to 9999');
  if (message.reservedAtMs >= message.expiresAtMs) problems.push('expires before it was reserved');
  return problems.length === 0 ? { ok: true, message } : { ok: false, problem: problems.join('; ') };
}

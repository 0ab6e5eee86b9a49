/** A batch of binary items in place: their answers name no request, so that all refusals of a batch are the same 32 bytes. */
import { BATCH_ITEMS_MAX, BINARY_ANSWER_BYTES, BINARY_ITEM_BYTES } from '../../../domain/batch-contract.js';
import type { SkuKey } from '../../../domain/ids.js';
import type { GatewayAnswer } from '../answers.js';
import type { StandingRefusal } from '../funnel/gateway-funnel.js';
import { hashOfBytes } from '../funnel/presence-filter.js';
import { validateIds } from '../validate.js';
import type { ItemsInPlace, Others } from './items-in-place.js';
import { DIGITS, isBinaryItemValid, readBinaryItem, requestIdEnd, requestIdStart, writeDigits, writeBinaryAnswer } from './binary-item.js';
import type { BatchItem } from './read-batch.js';

/** Null: not a whole number of items, or more than a batch may have. */
export function binaryItemsInPlace(body: Buffer, sku: SkuKey): ItemsInPlace | null {
  const count = body.length / BINARY_ITEM_BYTES;
  if (!Number.isInteger(count) || count > BATCH_ITEMS_MAX) return null;
  return {
    count,
    others: (refusal) => othersOf(body, count, sku, refusal),
    write: (refusal, places, told) => write(count, refusal, places, told),
  };
}

/** Items out of their form are among them: each hears what is wrong with it. */
function othersOf(body: Buffer, count: number, sku: SkuKey, refusal: StandingRefusal): Others {
  const places: number[] = [];
  const items: BatchItem[] = [];
  for (let item = 0; item < count; item += 1) {
    if (isBinaryItemValid(body, item)) {
      const requestHash = hashOfBytes(body, requestIdStart(item), requestIdEnd(body, item));
      // Filters hold ids as text.
      const userHash = hashOfBytes(DIGITS, writeDigits(body, item * BINARY_ITEM_BYTES), DIGITS.length);
      if (!refusal.mayExcept(requestHash, userHash)) continue;
    }
    const { requestId, userId } = readBinaryItem(body, item);
    places.push(item);
    items.push(validateIds(sku, requestId, userId));
  }
  return { places, items };
}

interface Refusals {
  readonly refusal: GatewayAnswer;
  readonly bytes: Buffer;
}

/** A whole batch of the refusal that was last given. Shared by all batches, which may still be on their way out, so it is never written again. */
let last: Refusals | null = null;

function areAlike({ httpStatus, answer }: GatewayAnswer, other: GatewayAnswer): boolean {
  return httpStatus === other.httpStatus && answer.code === other.answer.code && answer.retryAfterMs === other.answer.retryAfterMs && answer.reservationId === null && answer.orderId === null;
}

function batchOf(refusal: GatewayAnswer): Buffer {
  if (last !== null && areAlike(refusal, last.refusal)) return last.bytes;
  const one = Buffer.alloc(BINARY_ANSWER_BYTES);
  writeBinaryAnswer(one, 0, refusal);
  last = { refusal, bytes: Buffer.alloc(BATCH_ITEMS_MAX * BINARY_ANSWER_BYTES, one) };
  return last.bytes;
}

/** Where nobody hears anything else and one SKU is sold out at a time, nothing is copied: tens of megabytes a second would set off collections of the whole heap. */
function write(count: number, refusal: GatewayAnswer, places: readonly number[], told: readonly GatewayAnswer[]): Buffer {
  const refusals = batchOf(refusal).subarray(0, count * BINARY_ANSWER_BYTES);
  let bytes: Buffer | null = null;
  for (const [next, place] of places.entries()) {
    const answer = told[next];
    if (answer === undefined || areAlike(answer, refusal)) continue;
    bytes ??= Buffer.from(refusals);
    bytes.fill(0, place * BINARY_ANSWER_BYTES, (place + 1) * BINARY_ANSWER_BYTES);
    writeBinaryAnswer(bytes, place, answer);
  }
  return bytes ?? refusals;
}

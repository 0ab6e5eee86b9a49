/** A plain JSON batch in place: ids are copied from the body into the answer. */
import type { SkuKey } from '../../../domain/ids.js';
import type { GatewayAnswer } from '../answers.js';
import type { StandingRefusal } from '../funnel/gateway-funnel.js';
import { hashOfBytes } from '../funnel/presence-filter.js';
import { plainItem } from '../validate.js';
import type { ItemsInPlace, Others } from './items-in-place.js';
import type { BatchItem } from './read-batch.js';
import { countOf, NUMBERS_PER_ITEM, requestIdOf, scanPlainItems, userIdOf, type PlainItems } from './scan-json.js';
import { answerText, plainRefusalHead, PLAIN_REFUSAL_TAIL } from './write-batch.js';

/** Null: not of the plain form. */
export function jsonItemsInPlace(body: Buffer, sku: SkuKey): ItemsInPlace | null {
  const items = scanPlainItems(body);
  if (items === null) return null;
  return {
    count: countOf(items),
    others: (refusal) => othersOf(body, items, sku, refusal),
    write: (refusal, places, told) => write(body, items, refusal, places, told),
  };
}

function othersOf(body: Buffer, items: PlainItems, sku: SkuKey, refusal: StandingRefusal): Others {
  const places: number[] = [];
  const others: BatchItem[] = [];
  for (let item = 0; item < items.length; item += NUMBERS_PER_ITEM) {
    const requestHash = hashOfBytes(body, items[item] ?? 0, items[item + 1] ?? 0);
    const userHash = hashOfBytes(body, items[item + 2] ?? 0, items[item + 3] ?? 0);
    if (!refusal.mayExcept(requestHash, userHash)) continue;
    const place = item / NUMBERS_PER_ITEM;
    places.push(place);
    others.push(plainItem(sku, requestIdOf(body, items, place), userIdOf(body, items, place)));
  }
  return { places, items: others };
}

const OPENING = 0x5b;
const CLOSING = 0x5d;
const COMMA = 0x2c;

/** A JSON array of all answers: of `others` at their places, and the refusal with each one's own request id everywhere else. */
function write(body: Buffer, items: PlainItems, refusal: GatewayAnswer, places: readonly number[], others: readonly GatewayAnswer[]): Buffer {
  const head = plainRefusalHead(refusal);
  const texts = others.map(answerText);
  let length = 1 + countOf(items) + texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  for (let item = 0, next = 0; item < items.length; item += NUMBERS_PER_ITEM) {
    if (places[next] === item / NUMBERS_PER_ITEM) next += 1;
    else length += head.length + (items[item + 1] ?? 0) - (items[item] ?? 0) + PLAIN_REFUSAL_TAIL.length;
  }
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (let item = 0, next = 0; item < items.length; item += NUMBERS_PER_ITEM) {
    bytes[at] = item === 0 ? OPENING : COMMA;
    at += 1;
    if (places[next] === item / NUMBERS_PER_ITEM) {
      at += bytes.write(texts[next] ?? '', at);
      next += 1;
    } else {
      bytes.set(head, at);
      at = copy(body, items[item] ?? 0, items[item + 1] ?? 0, bytes, at + head.length);
      at = copy(PLAIN_REFUSAL_TAIL, 0, PLAIN_REFUSAL_TAIL.length, bytes, at);
    }
  }
  bytes[at] = CLOSING;
  return bytes;
}

/** Byte by byte: for so few of them a call of `set` takes longer. Returns where the copy ends. */
function copy(from: Uint8Array, begin: number, end: number, to: Uint8Array, at: number): number {
  let place = at;
  for (let next = begin; next < end; next += 1) to[place++] = from[next] ?? 0;
  return place;
}

/**
 * Answers a plain JSON batch where memory alone refuses nearly everybody: the mark stands, or the line is full. Ids are looked up as they lie in the body and copied into the
 * answer, so that who is refused costs no text and no object; of 300,000 arrivals a second all but ten thousand are (docs/decisions/0025). Whoever may be one of the
 * accepted, or known here, is decided like any other item, and so is everybody where nothing stands.
 */
import type { SkuKey } from '../../../domain/ids.js';
import type { RoleSurroundings } from '../../role.js';
import type { GatewayAnswer } from '../answers.js';
import type { BatchAnswers } from '../gateway-metrics.js';
import type { StandingRefusal } from '../funnel/gateway-funnel.js';
import { bitOfBytes } from '../funnel/presence-filter.js';
import { plainItem } from '../validate.js';
import { decideBatch, type Decider } from './decide-batch.js';
import type { BatchItem } from './read-batch.js';
import { countOf, NUMBERS_PER_ITEM, requestIdOf, scanPlainItems, userIdOf, type PlainItems } from './scan-json.js';
import { answerText, plainRefusalHead, PLAIN_REFUSAL_TAIL } from './write-batch.js';

export interface RefusingDecider extends Decider {
  standingRefusal(sku: SkuKey): StandingRefusal | null;
}

export interface AnsweredInPlace {
  readonly bytes: Buffer;
  readonly told: BatchAnswers;
}

interface Others {
  /** Places in the batch, rising. */
  readonly places: readonly number[];
  readonly items: readonly BatchItem[];
}

/** Null: nothing refuses everybody, or the body is not of the plain form. Every layer of the funnel would have said the same of each item. */
export function answerInPlace(body: Buffer, sku: SkuKey, decider: RefusingDecider, log: RoleSurroundings['log']): Promise<AnsweredInPlace> | null {
  const refusal = decider.standingRefusal(sku);
  if (refusal === null) return null;
  const items = scanPlainItems(body);
  if (items === null) return null;
  const others = othersOf(body, items, sku, refusal);
  const count = countOf(items) - others.places.length;
  refusal.heard(count);
  const told = (answers: readonly GatewayAnswer[]): AnsweredInPlace => ({ bytes: write(body, items, refusal.answer, others.places, answers), told: { answers, alike: { answer: refusal.answer, count } } });
  return others.places.length === 0 ? Promise.resolve(told([])) : decideBatch(others.items, sku, decider, log).then(told);
}

function othersOf(body: Buffer, items: PlainItems, sku: SkuKey, refusal: StandingRefusal): Others {
  const places: number[] = [];
  const others: BatchItem[] = [];
  for (let item = 0; item < items.length; item += NUMBERS_PER_ITEM) {
    const requestBit = bitOfBytes(body, items[item] ?? 0, items[item + 1] ?? 0);
    const userBit = bitOfBytes(body, items[item + 2] ?? 0, items[item + 3] ?? 0);
    if (!refusal.mayExcept(requestBit, userBit)) continue;
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

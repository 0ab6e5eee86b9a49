/**
 * Says of a text "surely not among them" for the price of a few characters. Nearly nobody of a storm is a winner, and looking three hundred thousand requests a second up in
 * maps of ten thousand winners, which lie all over the memory, cost as much as reading the requests.
 */

/** 2^20 bits, 128 KB: twenty thousand ids leave two of a hundred to the maps. When more fill it, it says less, and nothing wrong. */
const BITS = 20;
const MASK = (1 << BITS) - 1;
/** Ids of one sale differ at their end. */
const CHARACTERS = 12;

/** One request is looked up in several filters, one after the other. */
let lastText = '';
let lastBit = 0;

/** The place of a text in every filter. */
function bitOf(text: string): number {
  if (text === lastText) return lastBit;
  let hash = text.length;
  for (let at = Math.max(0, text.length - CHARACTERS); at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  lastText = text;
  // The product mixes upwards.
  lastBit = (hash ^ (hash >>> 12)) & MASK;
  return lastBit;
}

/** The same of a text of one byte a character that lies in `bytes` from `from` to `to`. */
export function bitOfBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = Math.max(from, to - CHARACTERS); at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x0100_0193);
  return (hash ^ (hash >>> 12)) & MASK;
}

export class PresenceFilter {
  readonly #bits = new Uint32Array(1 << (BITS - 5));

  add(text: string): void {
    const bit = bitOf(text);
    this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  /** False: it was never added. */
  mayHold(text: string): boolean {
    return this.mayHoldBit(bitOf(text));
  }

  /** The same by a place that is known already. */
  mayHoldBit(bit: number): boolean {
    return ((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0;
  }
}

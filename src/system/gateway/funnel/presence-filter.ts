/**
 * Says of a text "surely not among them" for the price of a few characters. Nearly nobody of a storm is a winner, and looking three hundred thousand requests a second up in
 * maps of ten thousand winners, which lie all over the memory, cost as much as reading the requests.
 */

/**
 * 2^15 words of 32 bits, 128 KB. A text has three bits in one word, so that it is looked up in one place of the memory: twenty thousand ids leave two of a thousand to the maps,
 * where one bit a text left two of a hundred. When more fill it, it says less, and nothing wrong.
 */
const WORDS = 1 << 15;

/** Ids of one sale differ at their end. */
const CHARACTERS = 12;

/** One request is looked up in several filters, one after the other. */
let lastText = '';
let lastHash = 0;

/** By which a text is found in every filter. */
function hashOf(text: string): number {
  if (text === lastText) return lastHash;
  let hash = text.length;
  for (let at = Math.max(0, text.length - CHARACTERS); at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  lastText = text;
  // The product mixes upwards.
  lastHash = hash ^ (hash >>> 12);
  return lastHash;
}

/** The same of a text of one byte a character that lies in `bytes` from `from` to `to`. */
export function hashOfBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from;
  for (let at = Math.max(from, to - CHARACTERS); at < to; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x0100_0193);
  return hash ^ (hash >>> 12);
}

function wordOf(hash: number): number {
  return hash & (WORDS - 1);
}

/** Shifts go by the last five bits of their count. */
function bitsOf(hash: number): number {
  return (1 << (hash >>> 15)) | (1 << (hash >>> 20)) | (1 << (hash >>> 25));
}

export class PresenceFilter {
  readonly #words = new Int32Array(WORDS);

  add(text: string): void {
    const hash = hashOf(text);
    this.#words[wordOf(hash)] = (this.#words[wordOf(hash)] ?? 0) | bitsOf(hash);
  }

  /** False: it was never added. */
  mayHold(text: string): boolean {
    return this.mayHoldHash(hashOf(text));
  }

  /** The same by a hash that is known already. */
  mayHoldHash(hash: number): boolean {
    const bits = bitsOf(hash);
    return ((this.#words[wordOf(hash)] ?? 0) & bits) === bits;
  }
}

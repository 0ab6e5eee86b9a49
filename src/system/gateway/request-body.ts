/** The body of a request, up to a bound. */
import type { IncomingMessage } from 'node:http';

import { PLAIN_BODY } from './validate.js';

const EMPTY = Buffer.alloc(0);

/**
 * Calls back with the body, or with null when it is too large; never when the client went away in the middle. Without a promise: most requests are decided in the turn in
 * which they came, and promises were a good part of what one cost. No listener of errors either: Node tells a request's error only to who listens for it.
 */
export function readBody(request: IncomingMessage, maxBytes: number, use: (body: Buffer | null) => void): void {
  // NaN where it is not told, as of a body in chunks.
  const told = Number(request.headers['content-length']);
  let first: Buffer = EMPTY;
  let all: Buffer[] | null = null;
  let bytes = 0;
  const whole = (): void => {
    use(bytes > maxBytes ? null : all === null ? first : Buffer.concat(all));
  };
  if (told === 0) {
    request.resume();
    whole();
    return;
  }
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // The rest is read and thrown away, so that the connection stays usable for the answer.
    if (bytes <= maxBytes) {
      if (bytes === chunk.length) first = chunk;
      else (all ??= [first]).push(chunk);
    }
    // Its end is an event of its own in a turn of its own, which need not be waited for.
    if (bytes === told) whole();
  });
  if (Number.isNaN(told)) request.on('end', whole);
}

/** The same as a promise, for who follows promises. `gone`: the client went away. */
export function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | null | 'gone'> {
  return new Promise((resolve) => {
    readBody(request, maxBytes, resolve);
    request.on('close', () => {
      resolve('gone');
    });
  });
}

const PLAIN_BYTES = Buffer.from(PLAIN_BODY);

function isPlain(body: Buffer): boolean {
  if (body.length !== PLAIN_BYTES.length) return false;
  for (let at = 0; at < PLAIN_BYTES.length; at += 1) if (body[at] !== PLAIN_BYTES[at]) return false;
  return true;
}

/** As UTF-8. Comparing a few bytes is cheaper than making a text of them. */
export function bodyText(body: Buffer): string {
  return isPlain(body) ? PLAIN_BODY : body.toString();
}

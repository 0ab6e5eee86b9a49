/** The body of a request, up to a bound. */
import type { IncomingMessage } from 'node:http';

const EMPTY = Buffer.alloc(0);

/**
 * Calls back with the body, or with null when it is too large; never when the client went away in the middle. Without a promise: most requests are decided in the turn in
 * which they came, and promises were a good part of what one cost. No listener of errors either: Node tells a request's error only to who listens for it.
 */
export function readBody(request: IncomingMessage, maxBytes: number, use: (body: Buffer | null) => void): void {
  let first: Buffer = EMPTY;
  let all: Buffer[] | null = null;
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // The rest is read and thrown away, so that the connection stays usable for the answer.
    if (bytes > maxBytes) return;
    if (bytes === chunk.length) first = chunk;
    else (all ??= [first]).push(chunk);
  });
  request.on('end', () => {
    use(bytes > maxBytes ? null : all === null ? first : Buffer.concat(all));
  });
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

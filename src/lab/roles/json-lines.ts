/** Lines of JSON from a pipe. */
import type { Readable } from 'node:stream';

/** Calls back for each full line; a torn last line of a killed process is dropped: its action never began. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('error', () => undefined);
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

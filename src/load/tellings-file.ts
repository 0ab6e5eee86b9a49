/**
 * `history.ndjson` while it grows: what clients were told beyond their row in the columns, appended a few times a second. A generator that dies
 * leaves a file without its last line, which is how readers know.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { encodePayerTelling, encodeStormEnd, encodeTelling, encodeTellingsEnd, type TellingsEnd } from '../facts/history-file.js';
import type { GeneratorFacts, PayerTelling, Telling } from '../facts/history.js';

export const TELLINGS_FILE_NAME = 'history.ndjson';

export class TellingsFile {
  count = 0;
  readonly #file: FileHandle;
  #waiting: string[] = [];
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(directory: string): Promise<TellingsFile> {
    return new TellingsFile(await open(join(directory, TELLINGS_FILE_NAME), 'w'));
  }

  tell(telling: Telling): void {
    this.count += 1;
    this.#waiting.push(encodeTelling(telling));
  }

  tellPayer(telling: PayerTelling): void {
    this.count += 1;
    this.#waiting.push(encodePayerTelling(telling));
  }

  stormEnded(generator: GeneratorFacts): Promise<void> {
    this.#waiting.push(encodeStormEnd(generator));
    return this.flush();
  }

  /** Hands what is waiting to the file, in order. Rejects as the file system does. */
  flush(): Promise<void> {
    if (this.#waiting.length > 0) {
      const text = this.#waiting.join('');
      this.#waiting = [];
      this.#writing = this.#writing.then(() => this.#file.appendFile(text));
    }
    return this.#writing;
  }

  async end(end: Omit<TellingsEnd, 'tellings'>): Promise<void> {
    this.#waiting.push(encodeTellingsEnd({ tellings: this.count, ...end }));
    await this.flush();
    await this.#file.close();
  }
}

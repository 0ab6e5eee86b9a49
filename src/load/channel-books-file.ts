/** `channel.ndjson`: the payment channel's books, written when the channel has closed. A generator that dies leaves none, which is how readers know. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { decodeChannelBooks, encodeChannelBooks, NO_BOOKS, type ChannelBooks } from '../facts/channel-books.js';
import type { LoadSpec } from '../facts/load-spec.js';

export const CHANNEL_BOOKS_FILE_NAME = 'channel.ndjson';

/** Under another name until it is whole. Rejects as the file system does. */
export async function writeChannelBooks(directory: string, books: ChannelBooks): Promise<void> {
  const path = join(directory, CHANNEL_BOOKS_FILE_NAME);
  await writeFile(`${path}.partial`, encodeChannelBooks(books));
  await rename(`${path}.partial`, path);
}

/** Empty where nobody pays. Rejects when the file is missing or not whole. */
export async function readChannelBooks(directory: string, { payers }: Pick<LoadSpec, 'payers'>): Promise<ChannelBooks> {
  return payers === null ? NO_BOOKS : decodeChannelBooks(await readFile(join(directory, CHANNEL_BOOKS_FILE_NAME), 'utf8'));
}

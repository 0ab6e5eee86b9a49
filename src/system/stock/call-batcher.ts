/** Collects the calls of one turn of the event loop into one call to Redis, and hands each its own part of the reply. */
import assert from 'node:assert';

import type { CallResult } from './call-failure.js';

export interface CallBatcherOptions {
  /** Most items of one call. */
  readonly maxBatch?: number;
  /** Items waiting or under way; more are surely not done. */
  readonly itemsMax?: number;
}

/** `call` answers as many results as it was given items, in their order. The result never rejects for an operating failure. */
export function createCallBatcher<Item, Result>(
  call: (items: readonly Item[]) => Promise<CallResult<readonly Result[]>>, { maxBatch = 64, itemsMax = 8_192 }: CallBatcherOptions = {},
): (item: Item) => Promise<CallResult<Result>> {
  let waiting: { readonly item: Item; readonly settle: (result: CallResult<Result>) => void; readonly fail: (error: unknown) => void }[] = [];
  let items = 0;

  async function send(batch: typeof waiting): Promise<void> {
    try {
      const reply = await call(batch.map(({ item }) => item));
      if (reply.outcome !== 'done') {
        for (const { settle } of batch) settle(reply);
        return;
      }
      assert(reply.value.length === batch.length, 'a call answered another number of results');
      for (const [index, { settle }] of batch.entries()) settle({ outcome: 'done', value: reply.value[index] as Result });
    } catch (error) {
      for (const { fail } of batch) fail(error);
    } finally {
      items -= batch.length;
    }
  }

  function flush(): void {
    const all = waiting;
    waiting = [];
    for (let from = 0; from < all.length; from += maxBatch) void send(all.slice(from, from + maxBatch));
  }

  return (item) => {
    if (items >= itemsMax) return Promise.resolve({ outcome: 'surely-not-done', reason: 'too many of these calls are under way' });
    items += 1;
    return new Promise((settle, fail) => {
      waiting.push({ item, settle, fail });
      if (waiting.length === 1) setImmediate(flush);
    });
  };
}

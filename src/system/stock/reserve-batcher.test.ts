// The micro-batcher in front of Redis: batching, bounds, deadlines, and answers that reach the right caller.
import { expect, test } from 'vitest';

import { createReserveBatcher } from './reserve-batcher.js';
import type { ReserveReply, ReserveRequest } from './stock-port.js';

const SKU = { activityId: '1', skuId: '2' };

function request(id: number): ReserveRequest {
  return { requestId: `r${String(id)}`, userId: String(id), payloadHash: 'aa', reservationId: 'v', messageId: 'm', reservedAtMs: 1, expiresAtMs: 2 };
}

/** A stock that answers when told to; each accepted request gets its own position as stock left, so that answers cannot be mixed up. */
function stoppedStock() {
  const calls: { readonly requests: readonly ReserveRequest[]; readonly answer: (reply?: ReserveReply) => void; readonly fail: (error: Error) => void }[] = [];
  return {
    calls,
    reserve: (_sku: unknown, requests: readonly ReserveRequest[]) =>
      new Promise<ReserveReply>((resolve, reject) => {
        const answer = (reply?: ReserveReply): void => {
          resolve(reply ?? { outcome: 'done', decisions: requests.map(({ userId }) => ({ code: 'RESERVED', record: null, stockLeft: Number(userId) })) });
        };
        calls.push({ requests, answer, fail: reject });
      }),
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('requests of one loop turn leave together at its end, each with its own answer', async () => {
  const stock = stoppedStock();
  const batcher = createReserveBatcher(stock, SKU);
  const submitted = [1, 2, 3].map((id) => batcher.submit(request(id)));
  expect(stock.calls).toHaveLength(0);
  await turn();
  expect(stock.calls.map(({ requests }) => requests.length)).toEqual([3]);
  stock.calls[0]?.answer();
  expect(await Promise.all(submitted)).toEqual([1, 2, 3].map((id) => ({ outcome: 'done', decision: { code: 'RESERVED', record: null, stockLeft: id } })));
});

test('64 leave at once, without waiting for the turn to end', () => {
  const stock = stoppedStock();
  const batcher = createReserveBatcher(stock, SKU);
  for (let id = 1; id <= 130; id += 1) void batcher.submit(request(id));
  expect(stock.calls.map(({ requests }) => requests.length)).toEqual([64, 64]);
  expect(batcher.waiting).toBe(2);
});

test('at most so many calls are in flight; what waits grows into fuller batches', async () => {
  const stock = stoppedStock();
  const batcher = createReserveBatcher(stock, SKU, { maxInFlight: 2, maxBatch: 10 });
  for (let id = 1; id <= 2; id += 1) {
    void batcher.submit(request(id));
    await turn();
  }
  for (let id = 3; id <= 12; id += 1) {
    void batcher.submit(request(id));
    await turn();
  }
  expect(stock.calls.map(({ requests }) => requests.length)).toEqual([1, 1]);
  expect(batcher.inFlight).toBe(2);
  stock.calls[0]?.answer();
  await turn();
  expect(stock.calls.map(({ requests }) => requests.length)).toEqual([1, 1, 10]);
});

test('a request that waited past its deadline was surely not done, and is not sent', async () => {
  const stock = stoppedStock();
  let nowMs = 0;
  const batcher = createReserveBatcher(stock, SKU, { maxInFlight: 1, deadlineMs: 100, nowMs: () => nowMs });
  void batcher.submit(request(1));
  await turn();
  const late = batcher.submit(request(2));
  nowMs = 60;
  const fresh = batcher.submit(request(3));
  nowMs = 120;
  stock.calls[0]?.answer();
  expect(await late).toMatchObject({ outcome: 'surely-not-done' });
  await turn();
  expect(stock.calls[1]?.requests.map(({ requestId }) => requestId)).toEqual(['r3']);
  stock.calls[1]?.answer();
  expect(await fresh).toMatchObject({ outcome: 'done' });
});

test('a full line refuses at once', async () => {
  const stock = stoppedStock();
  const batcher = createReserveBatcher(stock, SKU, { queueLimit: 2 });
  void batcher.submit(request(1));
  void batcher.submit(request(2));
  expect(await batcher.submit(request(3))).toMatchObject({ outcome: 'surely-not-done' });
});

test('one unknown call is unknown for all in it and for nobody else', async () => {
  const stock = stoppedStock();
  const batcher = createReserveBatcher(stock, SKU, { maxBatch: 2 });
  const submitted = [1, 2, 3, 4].map((id) => batcher.submit(request(id)));
  stock.calls[0]?.answer({ outcome: 'unknown', reason: 'Command timed out' });
  stock.calls[1]?.answer();
  expect((await Promise.all(submitted)).map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown', 'done', 'done']);
});

test('a bug below reaches the callers and frees the slot', async () => {
  const stock = stoppedStock();
  const batcher = createReserveBatcher(stock, SKU, { maxInFlight: 1 });
  const broken = batcher.submit(request(1));
  await turn();
  stock.calls[0]?.fail(new Error('bug'));
  await expect(broken).rejects.toThrow('bug');
  void batcher.submit(request(2));
  await turn();
  expect(stock.calls).toHaveLength(2);
});

test('a line that never empties stays short in memory and keeps its order', async () => {
  const seen: string[] = [];
  const batcher = createReserveBatcher({
    reserve: (_sku, requests) => {
      seen.push(...requests.map(({ requestId }) => requestId));
      return Promise.resolve({ outcome: 'done', decisions: requests.map(() => ({ code: 'SOLD_OUT', record: null, stockLeft: 0 })) });
    },
  }, SKU, { maxInFlight: 1, queueLimit: 100_000 });
  const all: Promise<unknown>[] = [];
  for (let id = 0; id < 10_000; id += 1) all.push(batcher.submit(request(id)));
  await Promise.all(all);
  expect(seen).toEqual(Array.from({ length: 10_000 }, (_, id) => `r${String(id)}`));
});

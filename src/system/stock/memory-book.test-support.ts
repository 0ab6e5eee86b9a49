/** For unit tests: a book that several gateways may share, with a clock that the test sets and an outage that it may switch on. */
import { PERMIT_LIFETIME_MAX_MS, type EntryBook, type Hold, type HoldReply, type NonceUse, type ShownNonce } from './entry-book.js';

export interface MemoryBook extends EntryBook {
  nowMs: number;
  /** Null: it answers. */
  away: 'surely-not-done' | 'unknown' | null;
  readonly calls: { spend: number; take: number; drop: number };
  holdsOf(holder: string): readonly string[];
}

type Held = Omit<Hold, 'ageMs'> & { readonly takenAtMs: number };

export function memoryBook(nowMs = 0): MemoryBook {
  const spent = new Map<string, string>();
  const holds = new Map<string, Held[]>();
  const calls = { spend: 0, take: 0, drop: 0 };

  function use(book: MemoryBook, { userId, nonce, requestId, expiresAtMs }: ShownNonce, noncesMax: number): NonceUse {
    const key = `${userId}:${nonce}`;
    const by = spent.get(key);
    if (expiresAtMs <= book.nowMs) return { use: 'EXPIRED', spentBy: null, nowMs: book.nowMs };
    if (expiresAtMs - book.nowMs > PERMIT_LIFETIME_MAX_MS) return { use: 'TOO_LONG', spentBy: null, nowMs: book.nowMs };
    if (by === undefined && spent.size >= noncesMax) return { use: 'FULL', spentBy: null, nowMs: book.nowMs };
    if (by === undefined) spent.set(key, requestId);
    return (by ?? requestId) === requestId ? { use: 'GOOD', spentBy: null, nowMs: book.nowMs } : { use: 'SPENT', spentBy: by ?? null, nowMs: book.nowMs };
  }

  const book: MemoryBook = {
    nowMs,
    away: null,
    calls,
    holdsOf: (holder) => (holds.get(holder) ?? []).map(({ requestId }) => requestId),
    spend(_sku, shown, noncesMax) {
      calls.spend += 1;
      if (book.away !== null) return Promise.resolve({ outcome: book.away, reason: 'away' });
      return Promise.resolve({ outcome: 'done', value: shown.map((each) => use(book, each, noncesMax)) });
    },
    takeHolds(_activityId, asked, { perUser, perDevice, lastsMs }) {
      calls.take += 1;
      if (book.away !== null) return Promise.resolve({ outcome: book.away, reason: 'away' });
      const left = (holder: string): Held[] => (holds.get(holder) ?? []).filter(({ takenAtMs }) => book.nowMs - takenAtMs < lastsMs);
      const full = (whose: 'USER' | 'DEVICE', held: readonly Held[]): HoldReply => ({ kind: 'full', whose, holds: held.map(({ sku, requestId, takenAtMs }) => ({ sku, requestId, ageMs: book.nowMs - takenAtMs })) });
      return Promise.resolve({
        outcome: 'done',
        value: asked.map(({ sku, requestId, userId, deviceId }): HoldReply => {
          const [ofUser, ofDevice] = [left(`u:${userId}`), deviceId === null ? [] : left(`d:${deviceId}`)];
          if (ofUser.some((hold) => hold.requestId === requestId)) return { kind: 'held' };
          if (ofUser.length >= perUser) return full('USER', ofUser);
          if (ofDevice.length >= perDevice) return full('DEVICE', ofDevice);
          holds.set(`u:${userId}`, [...ofUser, { sku, requestId, takenAtMs: book.nowMs }]);
          if (deviceId !== null) holds.set(`d:${deviceId}`, [...ofDevice, { sku, requestId, takenAtMs: book.nowMs }]);
          return { kind: 'taken' };
        }),
      });
    },
    dropHolds(_activityId, places) {
      calls.drop += 1;
      if (book.away !== null) return Promise.resolve({ outcome: book.away, reason: 'away' });
      for (const { holder, requestId } of places) holds.set(holder, (holds.get(holder) ?? []).filter((hold) => hold.requestId !== requestId));
      return Promise.resolve({ outcome: 'done', value: places.length });
    },
  };
  return book;
}

/** For unit tests: a book that several gateways may share, with a clock that the test sets and an outage that it may switch on. */
import { PERMIT_LIFETIME_MAX_MS, type EntryBook, type Hold, type HoldReply, type NonceUse, type ShownNonce } from './entry-book.js';

export interface MemoryBook extends EntryBook {
  nowMs: number;
  /** Null: it answers. */
  away: 'surely-not-done' | 'unknown' | null;
  readonly calls: { spend: number; take: number; drop: number };
  holdsOf(holder: string): readonly string[];
}

type Held = Omit<Hold, 'ageMs'> & { readonly takenAtMs: number; readonly share: string };

function placesIn(held: readonly Held[]): number {
  return new Set(held.map(({ requestId }) => requestId)).size;
}

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
    holdsOf: (holder) => [...new Set((holds.get(holder) ?? []).map(({ requestId }) => requestId))],
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
        value: asked.map(({ sku, requestId, userId, deviceId, share }): HoldReply => {
          const [ofUser, ofDevice] = [left(`u:${userId}`), deviceId === null ? [] : left(`d:${deviceId}`)];
          const [had, deviceHad] = [ofUser, ofDevice].map((held) => held.some((hold) => hold.requestId === requestId));
          if (had !== true && placesIn(ofUser) >= perUser) return full('USER', ofUser);
          if (had !== true && deviceHad !== true && placesIn(ofDevice) >= perDevice) return full('DEVICE', ofDevice);
          const taken = { sku, requestId, takenAtMs: book.nowMs, share };
          holds.set(`u:${userId}`, [...ofUser, taken]);
          if (deviceId !== null && (deviceHad === true || had !== true)) holds.set(`d:${deviceId}`, [...ofDevice, taken]);
          return { kind: had === true ? 'held' : 'taken' };
        }),
      });
    },
    dropHolds(_activityId, places) {
      calls.drop += 1;
      if (book.away !== null) return Promise.resolve({ outcome: book.away, reason: 'away' });
      for (const { holder, requestId, share } of places) holds.set(holder, (holds.get(holder) ?? []).filter((hold) => hold.requestId !== requestId || (share !== null && hold.share !== share)));
      return Promise.resolve({ outcome: 'done', value: places.length });
    },
  };
  return book;
}

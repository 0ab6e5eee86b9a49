// The scanner on a real Redis, with PostgreSQL, Kafka and the order consumer played by one map in this process.
import { expect, test, vi } from 'vitest';

import { parseOrderMessage } from '../../domain/order-message.js';
import { DEFAULT_TUNING } from '../../domain/role-config.js';
import { ReservationStatus } from '../../domain/status-codes.js';
import type { StepName } from '../../domain/steps.js';
import type { DurableReservation, ReservationJudge } from '../ledger/ledger-port.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import { createRoleMetrics } from '../role-metrics.js';
import type { RunningRole } from '../role.js';
import { freshStock, request, SKU, type FreshStock } from '../stock/fresh-stock.test-support.js';
import type { RedisStock } from '../stock/redis-stock.js';
import { startScanner } from './scanner.js';

const N = 120;

/** PostgreSQL and what leads to it: a sent message is consumed at once, unless `consuming` is off. */
function backEnd() {
  const state = {
    durable: new Map<string, DurableReservation>(),
    messageIds: new Map<string, Set<string>>(),
    sends: 0,
    closes: 0,
    consuming: true,
    sendOutcome: 'sent' as 'sent' | 'unknown',
  };
  const judge: ReservationJudge = {
    durableStates: (ids) => Promise.resolve(new Map([...state.durable].filter(([id]) => ids.includes(id)))),
    closeWithoutOrder: ({ reservationId }) => {
      if (state.durable.has(reservationId)) return Promise.resolve('already-there');
      state.closes += 1;
      state.durable.set(reservationId, { status: ReservationStatus.EXPIRED, orderId: null, version: 1, returnsUnit: true, clearsUserMark: true });
      return Promise.resolve('closed');
    },
    handOver: () => Promise.reject(new Error('nothing here is past its deadline')),
    manual: () => Promise.resolve({ waiting: 0, oldestSeconds: 0 }),
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  const producer: LogProducer = {
    send: (_topic, { value }) => {
      const parsed = parseOrderMessage(value);
      if (!parsed.ok) throw new Error(parsed.problems.join());
      const { reservationId, messageId, userId } = parsed.message;
      state.sends += 1;
      state.messageIds.set(reservationId, (state.messageIds.get(reservationId) ?? new Set()).add(messageId));
      if (state.consuming && !state.durable.has(reservationId)) state.durable.set(reservationId, { status: ReservationStatus.ORDERED, orderId: userId, version: 1, returnsUnit: false, clearsUserMark: false });
      return Promise.resolve({ outcome: state.sendOutcome, reason: null });
    },
    ready: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  return { state, judge, producer };
}

interface StartOptions {
  readonly skewMs?: number;
  readonly leaseMs?: number;
  readonly reached?: (step: StepName) => Promise<void> | void;
}

function start(stock: RedisStock, { judge, producer }: ReturnType<typeof backEnd>, fresh: FreshStock, { skewMs = 0, leaseMs = 100, reached = () => undefined }: StartOptions = {}): Promise<RunningRole> {
  return startScanner(
    { stock, judge, producer, metrics: createRoleMetrics('scanner', 'scanner-1') },
    { ...SKU, skuIds: [SKU.skuId], namespace: fresh.namespace, tuning: { ...DEFAULT_TUNING, scannerIntervalMs: 5, leaseMs } },
    { clock: { nowMs: () => Date.now() + skewMs }, log: () => undefined, observer: { reached } },
  );
}

async function reserveAll(fresh: FreshStock, count: number, ttlMs: number): Promise<void> {
  const now = Date.now();
  for (let first = 0; first < count; first += 40) {
    const batch = Array.from({ length: Math.min(40, count - first) }, (_, index) => ({
      ...request(`r${String(first + index)}`, String(first + index + 1)), reservedAtMs: now, expiresAtMs: now + ttlMs,
    }));
    const reply = await fresh.stock.reserve(SKU, batch);
    if (reply.outcome !== 'done' || !reply.decisions.every(({ code }) => code === 'RESERVED')) throw new Error(JSON.stringify(reply));
  }
}

async function states(fresh: FreshStock): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const text of await fresh.direct.hvals(fresh.keys.requests)) counts[text.charAt(0)] = (counts[text.charAt(0)] ?? 0) + 1;
  return counts;
}

const eventually = (check: () => Promise<void>): Promise<void> => vi.waitFor(check, { timeout: 20_000, interval: 20 });

test('a gateway that died right after each Lua call: two scanners bring every reservation to an order, under one message id (C15)', async () => {
  const fast = { resendAfterMs: 10, recheckSentAfterMs: 20 };
  await using fresh = await freshStock(N, fast);
  await reserveAll(fresh, N, 60_000);
  const back = backEnd();
  const scanners = [await start(await fresh.connect(fast), back, fresh), await start(await fresh.connect(fast), back, fresh)];
  await eventually(async () => { expect(await fresh.direct.zcard(fresh.keys.pending)).toBe(0); });
  await Promise.all(scanners.map((scanner) => scanner.stop()));
  expect(await states(fresh)).toEqual({ O: N });
  expect(back.state.messageIds.size).toBe(N);
  for (const ids of back.state.messageIds.values()) expect(ids.size).toBe(1);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('0');
});

test('resends whose answers are lost repeat under the same id and end as well', async () => {
  await using fresh = await freshStock(10, { resendAfterMs: 0, recheckSentAfterMs: 20 });
  await reserveAll(fresh, 10, 60_000);
  const back = backEnd();
  Object.assign(back.state, { sendOutcome: 'unknown', consuming: false });
  const scanner = await start(await fresh.connect(), back, fresh, { leaseMs: 30 });
  await eventually(() => { expect(back.state.sends).toBeGreaterThanOrEqual(30); return Promise.resolve(); });
  Object.assign(back.state, { consuming: true });
  await eventually(async () => { expect(await states(fresh)).toEqual({ O: 10 }); });
  await scanner.stop();
  for (const ids of back.state.messageIds.values()) expect(ids.size).toBe(1);
});

test('a scanner paused past its lease resumes: each reservation is closed once and its unit comes back once (C13)', async () => {
  await using fresh = await freshStock(20, { resendAfterMs: 0 });
  await reserveAll(fresh, 20, -60_000);
  const back = backEnd();
  let resume: () => void = () => undefined;
  const paused = new Promise<void>((resolve) => (resume = resolve));
  let pausedOnce = false;
  const sleeper = await start(await fresh.connect(), back, fresh, {
    leaseMs: 40,
    reached: (step) => {
      if (step !== 'scanner.after-claim' || pausedOnce) return;
      pausedOnce = true;
      return paused;
    },
  });
  await vi.waitFor(() => { expect(pausedOnce).toBe(true); });
  const worker = await start(await fresh.connect(), back, fresh, { leaseMs: 40 });
  // No projector here: the scanner applies the ends itself once they are overdue.
  await eventually(async () => { expect(await states(fresh)).toEqual({ L: 20 }); });
  resume();
  await sleeper.stop();
  await worker.stop();
  expect(back.state.closes).toBe(20);
  expect(await fresh.direct.get(fresh.keys.stock)).toBe('20');
  expect(await fresh.direct.hlen(fresh.keys.users)).toBe(0);
});

test('a scanner whose clock is a minute ahead closes nothing early and steals no lease (C14)', async () => {
  await using fresh = await freshStock(5, { resendAfterMs: 0, recheckSentAfterMs: 60_000 });
  await reserveAll(fresh, 5, 30_000);
  const back = backEnd();
  back.state.consuming = false;
  const held = await fresh.stock.claimPending(SKU, 60_000, 3);
  expect(held.records).toHaveLength(3);
  const ahead = await start(await fresh.connect(), back, fresh, { skewMs: 60_000 });
  await eventually(async () => { expect(await states(fresh)).toEqual({ P: 3, S: 2 }); });
  await ahead.stop();
  expect(back.state.closes).toBe(0);
  expect(back.state.sends).toBe(2);
});

test('everything killed and started after the expiry: what was held is released without any new event (C39)', async () => {
  await using fresh = await freshStock(50, { resendAfterMs: 0 });
  await reserveAll(fresh, 50, -10_000);
  const back = backEnd();
  const first = await start(await fresh.connect(), back, fresh, { leaseMs: 20 });
  await eventually(() => { expect(back.state.closes).toBe(50); return Promise.resolve(); });
  await first.stop();
  const second = await start(await fresh.connect(), back, fresh, { leaseMs: 20 });
  await eventually(async () => { expect(await fresh.direct.get(fresh.keys.stock)).toBe('50'); });
  await second.stop();
  expect(await states(fresh)).toEqual({ L: 50 });
  expect(back.state.sends).toBe(0);
});

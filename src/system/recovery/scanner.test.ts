// The scanner against ports played by the test: what it decides, what it sends, and what it leaves alone when a store is away.
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';

import { systemClock } from '../../domain/clock.js';
import { namespaceOf } from '../../domain/namespace.js';
import { parseOrderMessage } from '../../domain/order-message.js';
import { DEFAULT_TUNING } from '../../domain/role-config.js';
import { ReservationStatus } from '../../domain/status-codes.js';
import type { SendOutcome } from '../../domain/reason-codes.js';
import type { ClosedReservation, ReservationJudge } from '../ledger/ledger-port.js';
import type { LogProducer } from '../order-log/order-log-port.js';
import { createRoleMetrics } from '../role-metrics.js';
import type { RunningRole } from '../role.js';
import type { ClaimReply, ProjectionUpdate, StockPort, StockRecord } from '../stock/stock-port.js';
import type { DurableReservation } from '../ledger/ledger-port.js';
import { createPatienceBook, decide } from './scanner-decision.js';
import { startScanner } from './scanner.js';

const NOW = 1_782_000_000_000;

function record(number: number, change: Partial<StockRecord> = {}): StockRecord {
  const suffix = String(number).padStart(12, '0');
  return {
    requestId: `r${String(number)}`, userId: String(number), reservationId: `0197f1d0-0000-7000-8000-${suffix}`, messageId: `0197f1d0-0000-7000-9000-${suffix}`,
    payloadHash: 'a'.repeat(64), state: 'P', activityVersion: '3', purchaseNo: 1, reservedAtMs: NOW - 2_000, expiresAtMs: NOW + 60_000, orderId: null,
    reason: null, appliedVersion: 0, unitReturned: false, ...change,
  };
}

interface World {
  readonly deps: { readonly stock: StockPort; readonly judge: ReservationJudge; readonly producer: LogProducer };
  /** Pages handed out, one per claim; then empty ones. */
  readonly pages: StockRecord[][];
  readonly durable: Map<string, DurableReservation>;
  readonly sent: { readonly topic: string; readonly key: string; readonly value: string }[];
  readonly marked: string[];
  readonly closed: ClosedReservation[];
  readonly handedOver: string[];
  readonly projected: ProjectionUpdate[];
  readonly steps: string[];
  claims: number;
  sendOutcome: SendOutcome;
  closeOutcome: 'closed' | 'refused';
  redisUp: boolean;
  postgresUp: boolean;
  closedDependencies: number;
}

function world(...pages: StockRecord[][]): World {
  const made: Omit<World, 'deps'> = {
    pages, durable: new Map(), sent: [], marked: [], closed: [], handedOver: [], projected: [], steps: [], claims: 0, sendOutcome: 'sent', closeOutcome: 'closed', redisUp: true, postgresUp: true,
    closedDependencies: 0,
  };
  const end = (): Promise<void> => {
    state.closedDependencies += 1;
    return Promise.resolve();
  };
  const stock: Partial<StockPort> = {
    claimPending: () => {
      state.claims += 1;
      const away: ClaimReply = { outcome: 'unknown', reason: 'away', records: [], orphans: [], nowMs: 0, pendingCount: 0 };
      if (!state.redisUp) return Promise.resolve(away);
      return Promise.resolve({ outcome: 'done', reason: null, records: state.pages.shift() ?? [], orphans: [], nowMs: NOW, pendingCount: 1 });
    },
    markSent: (_sku, ids) => {
      state.marked.push(...ids);
      return Promise.resolve('done');
    },
    project: (_sku, updates) => {
      state.projected.push(...updates);
      return Promise.resolve(updates.map(() => ({ outcome: 'done', applied: 'applied', unitReturned: false })));
    },
    ready: () => Promise.resolve(state.redisUp),
    close: end,
  };
  const judge: ReservationJudge = {
    durableStates: (ids) => Promise.resolve(state.postgresUp ? new Map([...state.durable].filter(([id]) => ids.includes(id))) : null),
    closeWithoutOrder: (reservation) => {
      if (!state.postgresUp) return Promise.resolve('unavailable');
      state.closed.push(reservation);
      return Promise.resolve(state.closeOutcome);
    },
    handOver: ({ reservationId }) => {
      if (!state.postgresUp) return Promise.resolve('unavailable');
      state.handedOver.push(reservationId);
      return Promise.resolve('handed-over');
    },
    manual: () => Promise.resolve({ waiting: state.handedOver.length, oldestSeconds: 0 }),
    ready: () => Promise.resolve(state.postgresUp),
    close: end,
  };
  const producer: LogProducer = {
    send: (topic, { key, value }) => {
      state.sent.push({ topic, key, value });
      return Promise.resolve({ outcome: state.sendOutcome, reason: null });
    },
    ready: () => Promise.resolve(true),
    close: end,
  };
  const state: World = Object.assign(made, { deps: { stock: stock as StockPort, judge, producer } });
  return state;
}

function start(
  state: World,
  tuning: Partial<typeof DEFAULT_TUNING> = {},
  metrics = createRoleMetrics('scanner', 'scanner-1'),
  told: (text: string, fields?: Readonly<Record<string, unknown>>) => void = () => undefined,
): Promise<RunningRole> {
  return startScanner(
    { ...state.deps, metrics },
    { activityId: '10001', skuIds: ['20001'], namespace: namespaceOf('test'), tuning: { ...DEFAULT_TUNING, scannerIntervalMs: 1, ...tuning } },
    { clock: systemClock, log: (_level, text, fields) => { told(text, fields); }, observer: { reached: (step, ids) => void state.steps.push(`${step} ${String(ids.length)}`) } },
  );
}

const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 20_000, interval: 1 });

afterEach(() => {
  vi.restoreAllMocks();
});

test('a reservation that PostgreSQL has never seen is sent again under its own ids, then marked', async () => {
  const state = world([record(1), record(2, { state: 'S' })]);
  const scanner = await start(state);
  await eventually(() => { expect(state.marked).toEqual(['r1', 'r2']); });
  await scanner.stop();
  expect(state.sent.map(({ topic, key }) => [topic, key])).toEqual([['test.orders', record(1).reservationId], ['test.orders', record(2).reservationId]]);
  const message = parseOrderMessage(state.sent[0]?.value ?? '');
  expect(message).toMatchObject({ ok: true, message: { messageId: record(1).messageId, reservationId: record(1).reservationId, activityVersion: '3', expiresAtMs: record(1).expiresAtMs } });
  expect(state.steps).toEqual(['scanner.after-claim 2', 'scanner.before-resend 2', 'scanner.after-resend 2', 'scanner.after-mark 2']);
  expect(state.closed).toEqual([]);
  expect(state.projected).toEqual([]);
});

test.each(['unknown', 'surely-not-sent'] as const)('a resend that ends as %s is not marked and comes again under the same message id', async (outcome) => {
  const state = world([record(1)], [], [record(1)]);
  state.sendOutcome = outcome;
  const scanner = await start(state);
  await eventually(() => { expect(state.sent).toHaveLength(2); });
  await scanner.stop();
  expect(state.marked).toEqual([]);
  expect(state.sent[0]).toEqual(state.sent[1]);
});

test('an expired one that PostgreSQL has never seen is closed there, and Redis is not touched', async () => {
  const expired = record(1, { expiresAtMs: NOW - 5_000 });
  const justNow = record(2, { expiresAtMs: NOW - 500 });
  const state = world([expired, justNow]);
  const scanner = await start(state);
  await eventually(() => { expect(state.closed).toHaveLength(1); });
  await scanner.stop();
  expect(state.closed[0]).toMatchObject({ reservationId: expired.reservationId, messageId: expired.messageId, sku: { activityId: '10001', skuId: '20001' } });
  // Inside the margin for clock differences it may still become an order.
  expect(state.sent.map(({ key }) => key)).toEqual([justNow.reservationId]);
  expect(state.projected).toEqual([]);
});

test('an order that PostgreSQL has is written back; nothing is sent', async () => {
  const state = world([record(1)]);
  state.durable.set(record(1).reservationId, { status: ReservationStatus.ORDERED, orderId: '77', version: 1, returnsUnit: false, clearsUserMark: false });
  const scanner = await start(state);
  await eventually(() => { expect(state.projected).toHaveLength(1); });
  await scanner.stop();
  expect(state.projected[0]).toMatchObject({ state: 'O', orderId: '77', version: 1, returnsUnit: false });
  expect(state.sent).toEqual([]);
});

test('an end that gives a unit back is left to its event, until that is overdue', async () => {
  const state = world(...Array.from({ length: 400 }, () => [record(1)]));
  state.durable.set(record(1).reservationId, { status: ReservationStatus.EXPIRED, orderId: null, version: 1, returnsUnit: true, clearsUserMark: true });
  // Patience counts on the server's clock, so it has to move.
  let nowMs = NOW;
  const stock: StockPort = { ...state.deps.stock, claimPending: async (...args) => ({ ...(await state.deps.stock.claimPending(...args)), nowMs: (nowMs += 20) }) };
  const scanner = await start({ ...state, deps: { ...state.deps, stock } }, { leaseMs: 100 });
  await eventually(() => { expect(state.projected.length).toBeGreaterThan(0); });
  await scanner.stop();
  // Five leases of 100 ms at 20 ms a pass: the 26th sees it overdue for the first time.
  expect(nowMs - NOW).toBeGreaterThanOrEqual(26 * 20);
  expect(state.projected[0]).toMatchObject({ state: 'L', returnsUnit: true, version: 1 });
  expect(state.sent).toEqual([]);
});

test('without PostgreSQL nothing is judged: no send, no close, no projection', async () => {
  const state = world([record(1)], [record(1, { expiresAtMs: NOW - 60_000 })]);
  state.postgresUp = false;
  const scanner = await start(state);
  await eventually(() => { expect(state.claims).toBeGreaterThan(3); });
  expect(await scanner.health()).toEqual(['PostgreSQL does not answer']);
  await scanner.stop();
  expect([state.sent, state.closed, state.projected]).toEqual([[], [], []]);
});

test('without Redis it keeps asking and does nothing else', async () => {
  const state = world([record(1)]);
  state.redisUp = false;
  const scanner = await start(state);
  await eventually(() => { expect(state.claims).toBeGreaterThan(3); });
  expect(state.sent).toEqual([]);
  state.redisUp = true;
  await eventually(() => { expect(state.sent).toHaveLength(1); });
  await scanner.stop();
});

test('a page whose lease ran out while PostgreSQL was asked is left to the next holder', async () => {
  const state = world([record(1)], [record(2)]);
  const slow = { ...state.deps.judge };
  let asked = 0;
  // Put forward by more than a lease, instead of waited for: the next page is judged within its lease however slow the machine is.
  let aheadMs = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  slow.durableStates = async (ids) => {
    asked += 1;
    if (asked === 1) aheadMs += 60_000;
    return state.deps.judge.durableStates(ids);
  };
  const scanner = await start({ ...state, deps: { ...state.deps, judge: slow } }, { leaseMs: 60_000 });
  await eventually(() => { expect(state.sent).toHaveLength(1); });
  await scanner.stop();
  expect(state.sent[0]?.key).toBe(record(2).reservationId);
});

test('past its recovery deadline a reservation is handed over and not sent again; one that has expired is closed all the same', async () => {
  const state = world([record(1, { reservedAtMs: NOW - 9_000 }), record(2), record(3, { reservedAtMs: NOW - 90_000, expiresAtMs: NOW - 60_000 })]);
  const metrics = createRoleMetrics('scanner', 'scanner-1');
  const alerts: unknown[] = [];
  const scanner = await start(state, { recoveryDeadlineMs: 5_000 }, metrics, (text, fields) => void alerts.push([text, fields?.['alert'], fields?.['requestId']]));
  await eventually(() => { expect(state.handedOver).toEqual([record(1).reservationId]); });
  await eventually(() => { expect(state.marked).toEqual(['r2']); });
  expect(state.closed.map(({ requestId }) => requestId)).toEqual(['r3']);
  expect(alerts.filter((line) => (line as unknown[])[1] !== undefined)).toEqual([['a reservation is past its recovery deadline; a human has to decide', 'MANUAL_REQUIRED', 'r1']]);
  await scanner.stop();
  expect(await metrics.text()).toMatch(/reservation_manual_required\{.*\} [01]/);
});

test('what the database refuses to close keeps nobody waiting, and is handed over at its deadline', async () => {
  const state = world([record(1, { reservedAtMs: NOW - 90_000, expiresAtMs: NOW - 60_000 }), record(2, { reservedAtMs: NOW - 4_000, expiresAtMs: NOW - 3_000 })]);
  state.closeOutcome = 'refused';
  const scanner = await start(state, { recoveryDeadlineMs: 5_000 });
  await eventually(() => { expect(state.handedOver).toEqual([record(1).reservationId]); });
  expect(state.closed.map(({ requestId }) => requestId)).toEqual(['r1', 'r2']);
  await scanner.stop();
});

test('a bug is fatal and never silent', async () => {
  const state = world();
  const stock: StockPort = { ...state.deps.stock, claimPending: () => Promise.reject(new Error('bug')) };
  const scanner = await start({ ...state, deps: { ...state.deps, stock } });
  expect((await scanner.fatal).message).toBe('bug');
  await scanner.stop();
});

test('stop ends the wait at once and closes what it was given', async () => {
  const state = world();
  const scanner = await start(state, { scannerIntervalMs: 60_000 });
  await eventually(() => { expect(state.claims).toBe(1); });
  const startedAt = performance.now();
  await scanner.stop();
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(state.closedDependencies).toBe(3);
});

const durables = fc.record({
  status: fc.constantFrom(...Object.values(ReservationStatus)),
  orderId: fc.constantFrom(null, '5'),
  version: fc.nat(),
  clearsUserMark: fc.boolean(),
}).map((durable): DurableReservation => ({
  ...durable, returnsUnit: [ReservationStatus.REJECTED, ReservationStatus.RELEASED, ReservationStatus.EXPIRED].some((ended) => ended === durable.status),
}));

test('a decision never gives a unit back for a reservation that may hold one, and never closes what PostgreSQL knows', () => {
  fc.assert(fc.property(fc.option(durables, { nil: undefined }), fc.integer({ min: -100_000, max: 100_000 }), fc.boolean(), fc.nat(200_000), (durable, sinceExpiryMs, overdue, recoveryDeadlineMs) => {
    const nowMs = record(1).expiresAtMs + sinceExpiryMs;
    const decision = decide(record(1), durable, { nowMs, expiryMarginMs: 1_000, recoveryDeadlineMs, isProjectionOverdue: () => overdue });
    const pastDeadline = nowMs - record(1).reservedAtMs > recoveryDeadlineMs;
    if (decision.action === 'close') expect(durable === undefined && sinceExpiryMs > 1_000).toBe(true);
    if (decision.action === 'resend') expect(durable === undefined && sinceExpiryMs <= 1_000 && !pastDeadline).toBe(true);
    if (decision.action === 'hand-over') expect(pastDeadline && (durable === undefined || durable.status === ReservationStatus.PENDING_DB)).toBe(true);
    if (decision.action === 'project' && decision.update.returnsUnit) {
      expect([ReservationStatus.REJECTED, ReservationStatus.RELEASED, ReservationStatus.EXPIRED]).toContain(durable?.status);
      expect(overdue).toBe(true);
    }
  }));
});

test('patience is counted per reservation and does not grow for ever', () => {
  const book = createPatienceBook(100);
  expect(book.isOverdue('a', 1_000)).toBe(false);
  expect(book.isOverdue('a', 1_099)).toBe(false);
  expect(book.isOverdue('b', 1_100)).toBe(false);
  expect(book.isOverdue('a', 1_100)).toBe(true);
  book.forget('a');
  expect(book.isOverdue('a', 1_150)).toBe(false);
  expect(book.isOverdue('c', 9_000)).toBe(false);
  expect(book.size).toBe(1);
});

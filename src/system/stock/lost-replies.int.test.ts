// A reserve call whose answer is lost is unknown, runs once and is never replayed; one that was never written is surely not done.
import net from 'node:net';

import { expect, test, vi } from 'vitest';

import type { HostPort } from '../../domain/role-config.js';
import { freshStock, request, SKU, type FreshStock } from './fresh-stock.test-support.js';

interface LossyProxy extends AsyncDisposable {
  readonly address: HostPort;
  /**
   * `swallow`: requests pass, answers do not. `cut`: as that, and the connection closes once the request has gone through. Going back to
   * `pass` closes the connections that lost bytes: TCP never goes on after a hole.
   */
  set(mode: 'pass' | 'swallow' | 'cut'): void;
  /** Closes all connections and the listener, as a dead server does. */
  down(): Promise<void>;
  up(): Promise<void>;
  accepted(): number;
  /** Connections that the client has ended. */
  ended(): number;
}

/** A TCP proxy in this process: exact about which bytes it drops, where a real one depends on timing. */
async function lossyProxy(upstream: HostPort): Promise<LossyProxy> {
  const sockets = new Set<net.Socket>();
  let accepted = 0;
  let ended = 0;
  let mode: 'pass' | 'swallow' | 'cut' = 'pass';
  const server = net.createServer((client) => {
    accepted += 1;
    const server_ = net.connect({ ...upstream, noDelay: true });
    for (const socket of [client, server_]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        server_.destroy();
      });
    }
    client.on('end', () => (ended += 1));
    client.on('data', (chunk) => server_.write(chunk));
    server_.on('data', (chunk) => {
      if (mode === 'pass') client.write(chunk);
      // The answer is there, so the request has been executed.
      else if (mode === 'cut') client.destroy();
    });
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', () => { resolve(); }));
  const down = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => { resolve(); });
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  const { port } = server.address() as net.AddressInfo;
  return {
    set(next) {
      if (next === 'pass' && mode === 'swallow') for (const socket of sockets) socket.destroy();
      mode = next;
    },
    address: { host: '127.0.0.1', port },
    down,
    up: () => listen(port),
    accepted: () => accepted,
    ended: () => ended,
    [Symbol.asyncDispose]: async () => {
      if (server.listening) await down();
    },
  };
}

async function held(fresh: FreshStock): Promise<{ stock: number; records: number }> {
  return { stock: Number(await fresh.direct.get(fresh.keys.stock)), records: await fresh.direct.hlen(fresh.keys.requests) };
}

test('answer swallowed: unknown at the deadline, done once, and the repeat finds the same reservation', async () => {
  await using fresh = await freshStock(5);
  await using proxy = await lossyProxy(fresh.address);
  const stock = await fresh.connect({ commandTimeoutMs: 150 }, proxy.address);
  await stock.reserve(SKU, [request('warm', '99')]);

  proxy.set('swallow');
  const lost = request('r1', '1');
  const startedAt = performance.now();
  expect(await stock.reserve(SKU, [lost])).toMatchObject({ outcome: 'unknown', reason: 'Command timed out' });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(await held(fresh)).toEqual({ stock: 3, records: 2 });

  // The silent connection is given up by the socket timeout and another one takes its place.
  await vi.waitFor(() => { expect(proxy.ended()).toBeGreaterThan(0); }, { timeout: 5_000, interval: 10 });
  proxy.set('pass');
  await vi.waitFor(async () => { expect(await stock.ready()).toBe(true); }, { timeout: 5_000, interval: 20 });
  const again = await stock.reserve(SKU, [request('r1', '1')]);
  expect(again).toMatchObject({ outcome: 'done', decisions: [{ code: 'REPEATED', record: { reservationId: lost.reservationId } }] });
  expect(await held(fresh)).toEqual({ stock: 3, records: 2 });
});

test('connection cut after the request went through: unknown at once, and never replayed after the reconnect', async () => {
  await using fresh = await freshStock(100);
  await using proxy = await lossyProxy(fresh.address);
  const stock = await fresh.connect({ commandTimeoutMs: 5_000 }, proxy.address);
  await stock.reserve(SKU, [request('warm', '99')]);

  proxy.set('cut');
  const calls = await Promise.all(Array.from({ length: 20 }, (_, index) => stock.reserve(SKU, [request(`r${String(index)}`, String(index + 1))])));
  expect(new Set(calls.map(({ outcome }) => outcome))).toEqual(new Set(['unknown']));
  proxy.set('pass');
  const before = await held(fresh);
  expect(before.stock + before.records).toBe(100);
  expect(await stock.whenConnected(5_000)).toBe(true);
  await vi.waitFor(async () => { expect(await stock.ready()).toBe(true); }, { timeout: 5_000, interval: 20 });
  expect(proxy.accepted()).toBeGreaterThan(1);
  expect(await held(fresh)).toEqual(before);
});

test('no server: surely not done, at once, and nothing is sent when it comes back', async () => {
  await using fresh = await freshStock(5);
  await using proxy = await lossyProxy(fresh.address);
  const errors: string[] = [];
  const stock = await fresh.connect({ commandTimeoutMs: 500, onConnectionError: (error) => errors.push(error.message) }, proxy.address);
  await stock.reserve(SKU, [request('warm', '99')]);

  await proxy.down();
  await vi.waitFor(() => { expect(errors.length).toBeGreaterThan(0); }, { timeout: 5_000, interval: 10 });
  const startedAt = performance.now();
  const refused = await Promise.all(Array.from({ length: 50 }, (_, index) => stock.reserve(SKU, [request(`r${String(index)}`, String(index + 1))])));
  expect(performance.now() - startedAt).toBeLessThan(400);
  expect(new Set(refused.map(({ outcome }) => outcome))).toEqual(new Set(['surely-not-done']));
  expect(await stock.ready()).toBe(false);

  await proxy.up();
  await vi.waitFor(async () => { expect(await stock.ready()).toBe(true); }, { timeout: 5_000, interval: 20 });
  expect(await held(fresh)).toEqual({ stock: 4, records: 1 });
  expect(await stock.reserve(SKU, [request('r1', '1')])).toMatchObject({ outcome: 'done', decisions: [{ code: 'RESERVED' }] });
});

test('every call in flight ends inside its deadline, whatever happens to the connection (C3)', async () => {
  await using fresh = await freshStock(500);
  await using proxy = await lossyProxy(fresh.address);
  const stock = await fresh.connect({ commandTimeoutMs: 200 }, proxy.address);
  await stock.reserve(SKU, [request('warm', '999')]);
  proxy.set('swallow');
  const startedAt = performance.now();
  const calls = Array.from({ length: 200 }, (_, index) => stock.reserve(SKU, [request(`r${String(index)}`, String(index + 1))]));
  setTimeout(() => void proxy.down(), 50);
  const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  expect(outcomes).not.toContain('done');
  const after = await held(fresh);
  expect(after.stock + after.records).toBe(500);
});

test('a reconnect makes the connection ask for epoch and run id again before it reserves', async () => {
  await using fresh = await freshStock(5);
  await using proxy = await lossyProxy(fresh.address);
  const stock = await fresh.connect({}, proxy.address);
  await stock.reserve(SKU, [request('warm', '99')]);
  // What a promoted replica looks like: the same keys, another run id.
  await fresh.direct.hset(fresh.keys.meta, 'runId', '0'.repeat(40));
  expect(await stock.reserve(SKU, [request('r1', '1')])).toMatchObject({ decisions: [{ code: 'RESERVED' }] });
  await proxy.down();
  await proxy.up();
  await vi.waitFor(async () => { expect(await stock.ready()).toBe(true); }, { timeout: 5_000, interval: 20 });
  expect(await stock.reserve(SKU, [request('r2', '2')])).toMatchObject({ outcome: 'done', decisions: [{ code: 'PAUSED' }] });
});

test('a replica refuses: surely not done', async () => {
  await using fresh = await freshStock(5);
  // A script that writes gets READONLY from a replica; the server's own words, without turning the shared server into one.
  const stock = await fresh.connect({
    scripts: { reserve_batch: "return redis.error_reply(\"READONLY You can't write against a read only replica.\")" },
  });
  expect(await stock.reserve(SKU, [request('r1', '1')])).toMatchObject({ outcome: 'surely-not-done' });
});

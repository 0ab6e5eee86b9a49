/** Connections without traffic are closed, and nobody else's. */
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { closeWhereIdle } from './idle-connections.js';

const IDLE_MS = 1_000;
let server: Server;
const clients: Socket[] = [];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  server = createServer({ keepAliveTimeout: 0 }, (_request, response) => { response.end('x'); });
  closeWhereIdle(server, IDLE_MS);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await new Promise((resolve) => server.close(resolve));
  vi.useRealTimers();
});

interface Client {
  readonly socket: Socket;
  isClosed: boolean;
  answers: number;
}

async function client(): Promise<Client> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(socket);
  const made: Client = { socket, isClosed: false, answers: 0 };
  socket.on('data', () => { made.answers += 1; });
  socket.on('close', () => { made.isClosed = true; });
  await ask(made);
  return made;
}

async function ask(of: Client): Promise<void> {
  const before = of.answers;
  of.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => of.answers).toBe(before + 1);
}

test('one that asks now and then stays, one that does not is closed after one to two times its time', async () => {
  const [busy, idle] = [await client(), await client()];
  vi.advanceTimersByTime(IDLE_MS);
  await ask(busy);
  expect([busy.isClosed, idle.isClosed]).toEqual([false, false]);
  vi.advanceTimersByTime(IDLE_MS);
  await expect.poll(() => idle.isClosed).toBe(true);
  await ask(busy);
  vi.advanceTimersByTime(IDLE_MS);
  await ask(busy);
  expect(busy.isClosed).toBe(false);
});

test('one that never asked for anything is closed too', async () => {
  const silent = connect((server.address() as AddressInfo).port, '127.0.0.1');
  clients.push(silent);
  let isClosed = false;
  silent.on('close', () => { isClosed = true; });
  await expect.poll(() => new Promise((resolve) => { server.getConnections((_error, count) => { resolve(count); }); })).toBe(1);
  vi.advanceTimersByTime(2 * IDLE_MS);
  silent.resume();
  await expect.poll(() => isClosed).toBe(true);
});

test('what ends with its server looks no more', async () => {
  const other = createServer();
  closeWhereIdle(other, IDLE_MS);
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  expect(vi.getTimerCount()).toBe(2);
  await new Promise((resolve) => other.close(resolve));
  expect(vi.getTimerCount()).toBe(1);
});

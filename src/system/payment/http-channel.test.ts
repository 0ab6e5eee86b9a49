/** A payment channel that keeps silent, hangs in the middle of its answer, or is closed while it is asked: every call has an end. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, it } from 'vitest';

import { createHttpChannel } from './http-channel.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const CALLS = 16;
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => {
    server.closeAllConnections();
    server.close(resolve);
  })));
});

async function listening(answer: RequestListener): Promise<{ readonly host: string; readonly port: number }> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

it.each([
  ['says nothing', (): void => undefined],
  ['stops in the middle of its answer', (_request, response): void => void response.writeHead(200, { 'content-length': 100 }).write('{"status":')],
] satisfies [string, RequestListener][])('gives up at the deadline on a channel that %s, whatever the garbage collector does meanwhile', async (_name, answer) => {
  const channel = createHttpChannel(await listening(answer), 300);
  const collecting = setInterval(collectGarbage, 50);
  const states = await Promise.all(Array.from({ length: CALLS }, (_, place) => channel.query('fake', `p-${String(place)}`)));
  clearInterval(collecting);
  for (const state of states) expect(state).toMatchObject({ outcome: 'no-answer', reason: expect.stringContaining('no answer within 300 ms') as string });
  await channel.close();
});

it('ends what is under way when it is closed, and asks nobody afterwards', async () => {
  let asked = 0;
  const channel = createHttpChannel(await listening(() => void (asked += 1)), 60_000);
  const refund = channel.refund({ provider: 'fake', refundId: 'r-1', tradeNo: 't-1', amount: '9900', currency: 'CNY' });
  await expect.poll(() => asked).toBe(1);
  await channel.close();
  expect(await refund).toMatchObject({ outcome: 'no-answer', reason: expect.stringContaining('closed') as string });
  expect(await channel.query('fake', 'p-1')).toMatchObject({ outcome: 'no-answer' });
  expect(asked).toBe(1);
});

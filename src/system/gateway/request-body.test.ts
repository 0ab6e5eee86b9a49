/** Bodies in pieces, too large ones, and clients that go away in the middle, over a real socket. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

import { afterEach, expect, test } from 'vitest';

import { bodyOf, bodyText, readBody } from './request-body.js';

const open: (Server | Socket)[] = [];
afterEach(() => {
  for (const each of open.splice(0)) {
    if ('closeAllConnections' in each) each.closeAllConnections();
    if ('destroy' in each) each.destroy();
    else each.close();
  }
});

async function clientOf(serve: (request: IncomingMessage, response: ServerResponse) => void): Promise<Socket> {
  const server = createServer(serve);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  open.push(socket);
  return socket;
}

const head = (bytes: number): string => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(bytes)}\r\n\r\n`;

test.each([['abcdef'], ['ab', 'cd', 'ef'], ['']])('a body comes whole, in however many pieces: %s %s %s', async (...pieces) => {
  const seen: (string | null)[] = [];
  const socket = await clientOf((request, response) => {
    readBody(request, 6, (body) => {
      seen.push(body?.toString() ?? null);
      response.end();
    });
  });
  const body = pieces.join('');
  socket.write(head(body.length));
  for (const [index, piece] of pieces.entries()) {
    if (piece === '') continue;
    socket.write(piece);
    if (index < pieces.length - 1) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await expect.poll(() => seen).toEqual([body]);
});

test('one that is too large is null, and the connection serves the next request', async () => {
  const seen: (string | null)[] = [];
  const socket = await clientOf((request, response) => {
    readBody(request, 4, (body) => {
      seen.push(body?.toString() ?? null);
      response.end();
    });
  });
  socket.write(`${head(6)}abcdef`);
  await expect.poll(() => seen).toEqual([null]);
  socket.write(`${head(4)}abcd`);
  await expect.poll(() => seen).toEqual([null, 'abcd']);
});

test('a body whose length is not told comes whole, or is too large', async () => {
  const seen: (string | null)[] = [];
  const socket = await clientOf((request, response) => {
    readBody(request, 4, (body) => {
      seen.push(body?.toString() ?? null);
      response.end();
    });
  });
  const inChunks = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
  socket.write(`${inChunks}2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n`);
  await expect.poll(() => seen).toEqual(['abcd']);
  socket.write(`${inChunks}6\r\nabcdef\r\n0\r\n\r\n`);
  await expect.poll(() => seen).toEqual(['abcd', null]);
  socket.write('POST / HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => seen).toEqual(['abcd', null, '']);
});

test('requests that come together are answered one after the other', async () => {
  const seen: (string | null)[] = [];
  const socket = await clientOf((request, response) => {
    readBody(request, 4, (body) => {
      seen.push(body?.toString() ?? null);
      response.end(body);
    });
  });
  let answers = '';
  socket.on('data', (text: Buffer) => { answers += text.toString(); });
  socket.write(['ab', 'toolarge', '', 'cd'].map((body) => `${head(body.length)}${body}`).join(''));
  await expect.poll(() => seen).toEqual(['ab', null, '', 'cd']);
  await expect.poll(() => answers.match(/\r\n\r\n[a-z]*/g)?.map((body) => body.trim())).toEqual(['ab', '', '', 'cd']);
});

test('who goes away in the middle has no body, and harms nobody', async () => {
  const used: unknown[] = [];
  const whole: unknown[] = [];
  let read = 0;
  const socket = await clientOf((request) => {
    request.on('data', (piece: Buffer) => { read += piece.length; });
    readBody(request, 100, (body) => { used.push(body); });
    void bodyOf(request, 100).then((body) => { whole.push(body); });
  });
  socket.write(`${head(50)}abc`);
  await expect.poll(() => read).toBe(3);
  socket.destroy();
  await expect.poll(() => whole).toEqual(['gone']);
  expect(used).toEqual([]);
});

test('its text is what its bytes say, also where they are nearly the usual ones', () => {
  for (const text of ['{"quantity":1}', '{"quantity":2}', '{"quantity":1} ', '{"quantity":1', ' "quantity":1}', '{"quantity":ü}', '']) expect(bodyText(Buffer.from(text))).toBe(text);
});

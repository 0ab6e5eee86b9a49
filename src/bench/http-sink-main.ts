/**
 * Entry of the server that generators are measured against: cheaper than any of them, it answers every chunk as one request (at depth 1 it is one) and
 * counts. Its parent asks by message; when the parent is gone, it goes too.
 */
import { createServer, type AddressInfo } from 'node:net';

import type { SinkCount } from './http-sink.js';

const BODY = '{"code":"SOLD_OUT","requestId":"r1-1","reservationId":null,"orderId":null,"reason":null,"problems":[],"retryAfterMs":null}';
const ANSWER = Buffer.from(`HTTP/1.1 410 Gone\r\nContent-Type: application/json\r\nContent-Length: ${String(BODY.length)}\r\n\r\n${BODY}`);
/** A burst of new connections, as a frozen server gets them, must not be refused by the backlog. */
const BACKLOG = 4_096;

let requests = 0;
const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined);
  socket.on('data', () => {
    requests += 1;
    socket.write(ANSWER);
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG }, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('message', () => {
  process.send?.({ requests, atUs: Number(process.hrtime.bigint() / 1_000n) } satisfies SinkCount);
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

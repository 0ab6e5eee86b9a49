/**
 * Entry of the bare `node:http` server that the gateway is measured against: it writes one answer, given in the environment, to every request. When its
 * parent is gone, it goes too.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { BARE_ANSWER_VARIABLE, type BareAnswer } from './bare-answer.js';

const { status, headers, body } = JSON.parse(process.env[BARE_ANSWER_VARIABLE] ?? 'null') as BareAnswer;
const bytes = Buffer.from(body);

// Without Node's timer of idle connections and the header that tells of it, as the gateway is.
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  request.resume();
  response.writeHead(status, [...headers]);
  response.end(bytes);
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

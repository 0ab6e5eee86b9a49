/** Entry of the producer's thread (threaded-producer.ts): the usual producer behind a channel. */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

import type { SendResult } from './order-log-port.js';
import { createGatewayProducer } from './steady-producer.js';
import type { LineFromThread, LineToThread, ThreadSettings } from './threaded-producer.js';

const port = parentPort;
if (port === null) throw new Error('this file is the entry of a thread');
const tell = (line: LineFromThread): void => { port.postMessage(line); };

const { nice, ...options } = workerData as ThreadSettings;
// On Linux a priority is a thread's own: only this one is lowered.
setPriority(0, nice);
const producer = createGatewayProducer({ ...options, log: (...line) => { tell({ kind: 'log', line }); } });

let ids: number[] = [];
let results: SendResult[] = [];

/** Results of one produce call come in one turn; they go back as one line. */
function settled(id: number, result: SendResult): void {
  if (ids.length === 0) {
    setImmediate(() => {
      tell({ kind: 'results', ids, results });
      ids = [];
      results = [];
    });
  }
  ids.push(id);
  results.push(result);
}

port.on('message', (line: LineToThread) => {
  if (line.kind === 'send') {
    for (const [index, message] of line.messages.entries()) {
      void producer.send(line.topics[index] ?? '', message).then((result) => { settled(line.first + index, result); });
    }
    return;
  }
  const done = line.kind === 'ready' ? producer.ready() : producer.close().then(() => true);
  void done.then((value) => { tell({ kind: 'answer', ask: line.ask, value }); });
});

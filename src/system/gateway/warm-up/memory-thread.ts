/** A producer's thread that is none: it confirms every message, at once or after a while. */
import type { LogProducer } from '../../order-log/order-log-port.js';
import { createThreadedProducer, type LineFromThread, type LineToThread, type ProducerThread, type ThreadSettings } from '../../order-log/threaded-producer.js';

function memoryThread(confirmsAfterMs: number): ProducerThread {
  let hear: (line: LineFromThread) => void = () => undefined;
  return {
    postMessage(line: LineToThread) {
      if (line.kind !== 'send') {
        setImmediate(() => { hear({ kind: 'answer', ask: line.ask, value: true }); });
        return;
      }
      const ids = line.messages.map((_message, index) => line.first + index);
      setTimeout(() => { hear({ kind: 'results', ids, results: ids.map(() => ({ outcome: 'sent', reason: null })) }); }, confirmsAfterMs);
    },
    on(event: 'message' | 'error', listener: ((line: LineFromThread) => void) | ((error: Error) => void)) {
      if (event === 'message') hear = listener as (line: LineFromThread) => void;
    },
    terminate: () => Promise.resolve(),
  };
}

export function memoryProducer(confirmsAfterMs: number, sendBudgetMs: number): LogProducer {
  // The thread is made below: of the settings only these are looked at on this side of it.
  return createThreadedProducer({ sendBudgetMs } as ThreadSettings, () => undefined, () => memoryThread(confirmsAfterMs));
}

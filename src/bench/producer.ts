/** `producer`: order messages a second to a real broker, acknowledged: as the gateway's producer collects them, against one produce request per message. */
import type { LogProducer } from '../system/order-log/order-log-port.js';
import { createBatchingProducer } from '../system/order-log/batching-producer.js';
import { createGatewayProducer } from '../system/order-log/steady-producer.js';
import { encodeOrderMessage } from '../domain/order-message.js';
import type { RunningStack } from '../stack/running-stack.js';
import { BARS } from './bars.js';
import { compareAll, type Bench } from './bench.js';
import { openSale, orderMessages, type Sale } from '../lab/size/sale.js';

const BUDGET_MS = 30_000;
/** Fewer: each costs ten times as much. */
const SINGLY = 4_000;
const COLLECTED = 20_000;
const SINGLE_SENDS_IN_FLIGHT = 64;

const noLog = (): undefined => undefined;

/** Acknowledged messages a second. */
async function rate(producer: LogProducer, topic: string, count: number): Promise<number> {
  const messages = orderMessages(count).map((message) => ({ key: message.reservationId, value: encodeOrderMessage(message) }));
  while (!(await producer.ready())) await new Promise((resolve) => setTimeout(resolve, 20));
  const startedMs = performance.now();
  const results = await Promise.all(messages.map((message) => producer.send(topic, message)));
  const seconds = (performance.now() - startedMs) / 1_000;
  const lost = results.find(({ outcome }) => outcome !== 'sent');
  if (lost !== undefined) throw new Error(`a message was not acknowledged: ${String(lost.reason)}`);
  return count / seconds;
}

async function withProducer(producer: LogProducer, use: (producer: LogProducer) => Promise<number>): Promise<number> {
  return use(producer).finally(() => producer.close());
}

function sidesOf(stack: RunningStack, { namespace }: Sale) {
  const options = { address: stack.description.direct.kafka, clientId: 'bench', topics: [namespace.ordersTopic], log: noLog };
  const single = (): LogProducer =>
    createBatchingProducer({ ...options, budgetMs: BUDGET_MS, requestTimeoutMs: BUDGET_MS, connectionTimeoutMs: 5_000, maxBatch: 1, maxInFlight: SINGLE_SENDS_IN_FLIGHT, maxQueued: COLLECTED });
  const collected = (): LogProducer => createGatewayProducer({ ...options, sendBudgetMs: BUDGET_MS });
  return [
    { label: 'single sends, 64 in flight', measure: () => withProducer(single(), (producer) => rate(producer, namespace.ordersTopic, SINGLY)) },
    { label: 'collected, ≤ 500 a send', measure: () => withProducer(collected(), (producer) => rate(producer, namespace.ordersTopic, COLLECTED)) },
  ] as const;
}

export const producerBench: Bench = {
  name: 'producer',
  async run(tools) {
    const stack = await tools.stack();
    const sale = await openSale(stack, { units: 1, topics: true });
    try {
      const sides = sidesOf(stack, sale);
      return await compareAll(tools, [{
        name: 'producer', figure: 'messages a second, acknowledged, 4 partitions', sides,
        bars: [{ over: sides[1].label, under: sides[0].label, bound: BARS.producer }],
      }]);
    } finally {
      await sale.close();
    }
  },
};

/**
 * release-on-send-timeout: a send without an answer counts as failed, and the gateway gives the unit back at once (paper `000` §15.2, the hand-off of paper
 * `003`). The message may well be in the broker: then the order is made, and the same unit is on sale again.
 */
import { parseOrderMessage } from '../domain/order-message.js';
import { RedisRecordState } from '../domain/status-codes.js';
import type { LogMessage, LogProducer } from '../system/order-log/order-log-port.js';
import type { RoleOverrides } from '../system/compose.js';
import type { StockPort } from '../system/stock/stock-port.js';
import type { Mutant } from './mutant.js';
import { sendAnswerLost } from './plans/cuts.js';

async function giveBack(stock: StockPort, { value }: LogMessage): Promise<void> {
  const parsed = parseOrderMessage(value);
  if (!parsed.ok) return;
  const { activityId, skuId, requestId, reservationId, userId } = parsed.message;
  await stock.project({ activityId, skuId }, [
    { requestId, reservationId, userId, state: RedisRecordState.RELEASED, orderId: null, reason: 'SEND_FAILED', version: 1, returnsUnit: true, clearsUserMark: true },
  ]);
}

function impatient(): NonNullable<RoleOverrides['wrap']> {
  let stock: StockPort | null = null;
  return {
    stock: (port) => (stock = port),
    producer: (producer: LogProducer): LogProducer => ({
      async send(topic, message) {
        const result = await producer.send(topic, message);
        if (result.outcome !== 'sent' && stock !== null) await giveBack(stock, message);
        return result;
      },
      ready: () => producer.ready(),
      close: () => producer.close(),
    }),
  };
}

export const releaseOnSendTimeout: Mutant = {
  name: 'release-on-send-timeout',
  description: 'The gateway gives a unit back when the broker does not answer its send.',
  warnedBy: '000 §7.8 and §15.2',
  caughtBy: 'release-once',
  showsUnder: sendAnswerLost,
  sql: [],
  overrides: (config) => (config.role === 'gateway' ? { wrap: impatient() } : {}),
};

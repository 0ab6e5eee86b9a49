/**
 * commit-re-executed: a COMMIT without an answer counts as failed, and the body runs again, with ids of its own (paper `001` §16, error 13; CASES C27). The
 * first one took effect. The key that would have stopped the second order is gone, as in systems that number a user's purchases as they come.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import type { OrderMessage } from '../domain/order-message.js';
import type { OrderLedger } from '../system/ledger/ledger-port.js';
import type { Mutant } from './mutant.js';
import { commitAnswerLost } from './plans/cuts.js';

/** Until the connection that was lost is there again. */
const ATTEMPTS = 40;
const PAUSE_MS = 50;

function anew(message: OrderMessage): OrderMessage {
  return { ...message, messageId: randomUUID(), reservationId: randomUUID(), requestId: randomUUID() };
}

function stubborn(ledger: OrderLedger): OrderLedger {
  return {
    async createOrders(messages) {
      const end = await ledger.createOrders(messages);
      if (end.outcome !== 'unknown') return end;
      const copies = messages.map(anew);
      for (let attempt = 1; ; attempt += 1) {
        const again = await ledger.createOrders(copies);
        if (again.outcome === 'committed' || attempt === ATTEMPTS) return again;
        await delay(PAUSE_MS);
      }
    },
    ready: () => ledger.ready(),
    close: () => ledger.close(),
  };
}

export const commitReExecuted: Mutant = {
  name: 'commit-re-executed',
  description: 'The consumer runs a transaction again whose COMMIT had no answer, under new ids.',
  warnedBy: '001 §7.5 and §16 error 13',
  caughtBy: 'no-phantom-order',
  showsUnder: commitAnswerLost,
  sql: ['ALTER TABLE orders DROP CONSTRAINT uq_orders_user_sku'],
  overrides: (config) => (config.role === 'consumer' ? { wrap: { ledger: stubborn } } : {}),
};

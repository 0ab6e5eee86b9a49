/**
 * message-inside-transaction: the consumer tells others of an order from inside the transaction that makes it (paper `001` §16, error 9). The transaction is rolled
 * back, the message is not: an order is announced that never was.
 */
import { randomUUID } from 'node:crypto';

import { encodeOrderEvent, type OrderEvent } from '../domain/order-event.js';
import { EventType } from '../domain/reason-codes.js';
import type { RoleConfig } from '../domain/role-config.js';
import type { RoleOverrides } from '../system/compose.js';
import type { Allocator, UnitRequest } from '../system/ledger/allocators/allocator-port.js';
import { ALLOCATORS } from '../system/ledger/allocators/registry.js';
import type { OrderLedger } from '../system/ledger/ledger-port.js';
import type { Transaction } from '../system/ledger/transaction.js';
import { createSteadyProducer } from '../system/order-log/steady-producer.js';
import type { LogProducer } from '../system/order-log/order-log-port.js';
import type { Mutant } from './mutant.js';
import { consumerDiesLate } from './plans/cuts.js';

interface ReservationFields {
  readonly reservation_id: string;
  readonly request_id: string;
  readonly activity_id: string;
  readonly sku_id: string;
  readonly user_id: string;
}

async function announce(transaction: Transaction, requests: readonly UnitRequest[], producer: LogProducer, topic: string): Promise<void> {
  const { rows } = await transaction.run<ReservationFields & Record<string, unknown>>('find_reservation_states', [requests.map(({ reservationId }) => reservationId)]);
  await Promise.all(rows.map(async (row) => {
    const event: OrderEvent = {
      schemaVersion: 1, eventId: randomUUID(), type: EventType.ORDER_CREATED, aggregateId: row.reservation_id, aggregateVersion: 1, reservationId: row.reservation_id,
      requestId: row.request_id, activityId: row.activity_id, skuId: row.sku_id, userId: row.user_id,
      orderId: requests.find(({ reservationId }) => reservationId === row.reservation_id)?.orderId ?? null, reason: null, returnsUnit: false, clearsUserMark: false,
    };
    await producer.send(topic, { key: row.reservation_id, value: encodeOrderEvent(event) });
  }));
}

function talkative({ addresses, instance, namespace, strategies }: RoleConfig): RoleOverrides {
  const right = ALLOCATORS[strategies.allocator];
  const producer = createSteadyProducer({ address: addresses.kafka, clientId: `${instance}-talk`, topics: [namespace.eventsTopic], budgetMs: 1_000, log: () => undefined });
  const allocator: Allocator = {
    async allocate(transaction, sku, requests) {
      const units = await right.allocate(transaction, sku, requests);
      await announce(transaction, requests.filter((_request, place) => units[place] != null), producer, namespace.eventsTopic);
      return units;
    },
  };
  const closing = (ledger: OrderLedger): OrderLedger => ({
    ...ledger,
    async close() {
      await producer.close();
      await ledger.close();
    },
  });
  return { allocator, wrap: { ledger: closing } };
}

export const messageInsideTransaction: Mutant = {
  name: 'message-inside-transaction',
  description: 'The consumer announces an order from inside its transaction, past the Outbox.',
  warnedBy: '001 §16 error 9',
  caughtBy: 'outbox-complete',
  showsUnder: consumerDiesLate,
  sql: [],
  overrides: (config) => (config.role === 'consumer' ? talkative(config) : {}),
};

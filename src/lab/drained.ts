/**
 * DRAINED (DESIGN §2): nothing is on its way any more. Asked over direct connections, cheapest question first; the answer lists what is
 * still open, in words, so that a run that never drains says why.
 */
import type { Redis } from 'ioredis';
import type { Admin } from 'kafkajs';
import type pg from 'pg';

import type { Namespace } from '../domain/namespace.js';
import { CompensationStatus, OutboxStatus, RedisRecordState, ReservationStatus } from '../domain/status-codes.js';
import type { SkuKey } from '../domain/ids.js';
import { stockKeys } from '../system/stock/keys.js';
import { unpackRecord } from '../system/stock/record-codec.js';

export interface DrainProbe {
  readonly redis: Redis;
  readonly admin: Admin;
  readonly postgres: pg.Client;
  readonly namespace: Namespace;
  readonly sku: SkuKey;
}

export async function consumerLag(admin: Admin, topic: string, group: string): Promise<number> {
  const ends = await admin.fetchTopicOffsets(topic);
  const committed = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  const byPartition = new Map((committed[0]?.partitions ?? []).map((entry) => [entry.partition, Number(entry.offset)]));
  let lag = 0;
  for (const end of ends) lag += Number(end.high) - Math.max(byPartition.get(end.partition) ?? 0, Number(end.low));
  return lag;
}

const FINAL_STATES: readonly string[] = [RedisRecordState.ORDERED, RedisRecordState.REJECTED, RedisRecordState.RELEASED];

async function openInRedis(probe: DrainProbe): Promise<string[]> {
  const keys = stockKeys(probe.namespace.redisPrefix, probe.sku);
  const pending = await probe.redis.zcard(keys.pending);
  if (pending > 0) return [`${String(pending)} entries in the pending index of Redis`];
  let open = 0;
  let cursor = '0';
  do {
    const [next, fields] = await probe.redis.hscan(keys.requests, cursor, 'COUNT', 2_000);
    cursor = next;
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const record = unpackRecord(fields[at] ?? '', fields[at + 1] ?? '');
      if (record === null || !FINAL_STATES.includes(record.state)) open += 1;
    }
  } while (cursor !== '0');
  return open === 0 ? [] : [`${String(open)} records in Redis without a final state`];
}

async function openInKafka(probe: DrainProbe): Promise<string[]> {
  const { ordersTopic, ordersGroup, eventsTopic, eventsGroup } = probe.namespace;
  const open: string[] = [];
  const orders = await consumerLag(probe.admin, ordersTopic, ordersGroup);
  if (orders > 0) open.push(`consumer lag ${String(orders)} on the orders topic`);
  const events = await consumerLag(probe.admin, eventsTopic, eventsGroup);
  if (events > 0) open.push(`projector lag ${String(events)} on the events topic`);
  return open;
}

async function openInPostgres(probe: DrainProbe): Promise<string[]> {
  const result = await probe.postgres.query<{ outbox: string; reservations: string; compensations: string }>(
    `SELECT (SELECT count(*) FROM event_outbox WHERE status = ANY($1) AND available_at <= statement_timestamp()) AS outbox,
            (SELECT count(*) FROM inventory_reservation WHERE status = ANY($2)) AS reservations,
            (SELECT count(*) FROM compensation_task WHERE status = ANY($3) AND next_run_at <= statement_timestamp()) AS compensations`,
    [
      [OutboxStatus.PENDING, OutboxStatus.SENDING, OutboxStatus.RETRY],
      [ReservationStatus.PENDING_DB, ReservationStatus.RELEASE_PENDING],
      [CompensationStatus.PENDING, CompensationStatus.RUNNING, CompensationStatus.RETRY],
    ],
  );
  const row = result.rows[0];
  const open: string[] = [];
  if (row === undefined) return ['PostgreSQL gave no answer'];
  if (row.outbox !== '0') open.push(`${row.outbox} Outbox rows due`);
  if (row.reservations !== '0') open.push(`${row.reservations} reservation rows in state 0 or 30`);
  if (row.compensations !== '0') open.push(`${row.compensations} compensations due`);
  return open;
}

/** What is still open; empty when drained. A store that does not answer is open. */
export async function openWork(probe: DrainProbe): Promise<string[]> {
  const open: string[] = [];
  for (const look of [openInRedis, openInKafka, openInPostgres]) {
    try {
      open.push(...(await look(probe)));
    } catch (cause) {
      open.push(`${look.name} did not answer: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  }
  return open;
}

/**
 * DRAINED (DESIGN §2): nothing is on its way any more. Asked over direct connections, cheapest question first; the answer lists what is
 * still open, in words, so that a run that never drains says why.
 */
import type { Redis } from 'ioredis';
import type { Admin } from 'kafkajs';
import type pg from 'pg';

import type { Namespace } from '../domain/namespace.js';
import type { RoleName } from '../domain/roles.js';
import { CompensationStatus, OrderStatus, OutboxStatus, PaymentStatus, RedisRecordState, ReservationStatus } from '../domain/status-codes.js';
import type { SkuKey } from '../domain/ids.js';
import { stockKeys } from '../system/stock/keys.js';
import { serverRunId } from './harvest/redis.js';
import { unpackRecord } from '../system/stock/record-codec.js';

export interface DrainProbe {
  readonly redis: Redis;
  readonly admin: Admin;
  readonly postgres: pg.Client;
  readonly namespace: Namespace;
  readonly sku: SkuKey;
  /** Roles that run: a topic that nobody reads has no lag. */
  readonly roles: ReadonlySet<RoleName>;
  /** The scenario pays, so an unpaid order is not at rest: it is paid, or its time ends. */
  readonly ordersEnd: boolean;
}

/** Committed offsets are read before the ends, so that what arrives in between counts as lag; and per partition, so that none hides another's. */
export async function consumerLag(admin: Admin, topic: string, group: string): Promise<number> {
  const committed = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  const ends = await admin.fetchTopicOffsets(topic);
  const byPartition = new Map((committed[0]?.partitions ?? []).map((entry) => [entry.partition, Number(entry.offset)]));
  return ends.reduce((lag, end) => lag + Math.max(0, Number(end.high) - Math.max(byPartition.get(end.partition) ?? 0, Number(end.low))), 0);
}

const FINAL_STATES: readonly string[] = [RedisRecordState.ORDERED, RedisRecordState.REJECTED, RedisRecordState.RELEASED];

async function openInRedis(probe: DrainProbe): Promise<string[]> {
  const keys = stockKeys(probe.namespace.redisPrefix, probe.sku);
  const [status, heldBack, runId] = await probe.redis.hmget(keys.meta, 'status', 'heldBack', 'runId');
  if (runId !== serverRunId(await probe.redis.info('server'))) return ['this Redis is not the one that was warmed up or rebuilt'];
  if (status === 'paused') return ['Redis is paused until it is rebuilt'];
  if (Number(heldBack ?? '0') > 0) return [`${heldBack ?? ''} units held back after a rebuild of Redis`];
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

async function openInKafka({ admin, namespace, roles }: DrainProbe): Promise<string[]> {
  const open: string[] = [];
  const topics = [
    ['consumer', 'orders', namespace.ordersTopic, namespace.ordersGroup],
    ['projector', 'events', namespace.eventsTopic, namespace.eventsGroup],
    ['closer', 'closes', namespace.closesTopic, namespace.closesGroup],
    ['undertaker', 'dead letters', namespace.deadLettersTopic, namespace.deadLettersGroup],
  ] as const;
  for (const [role, name, topic, group] of topics) {
    if (!roles.has(role)) continue;
    const lag = await consumerLag(admin, topic, group);
    if (lag > 0) open.push(`${role} lag ${String(lag)} on the ${name} topic`);
  }
  return open;
}

async function openInPostgres(probe: DrainProbe): Promise<string[]> {
  const result = await probe.postgres.query<{ outbox: string; reservations: string; compensations: string; manual: string; unpaid: string; refunds: string }>(
    `SELECT (SELECT count(*) FROM event_outbox WHERE status = ANY($1) AND available_at <= statement_timestamp()) AS outbox,
            (SELECT count(*) FROM inventory_reservation WHERE status = ANY($2)) AS reservations,
            (SELECT count(*) FROM inventory_reservation WHERE status = $6) AS manual,
            (SELECT count(*) FROM compensation_task WHERE status = ANY($3) AND next_run_at <= statement_timestamp()) AS compensations,
            (SELECT count(*) FROM orders WHERE status = ANY($4)) AS unpaid,
            (SELECT count(*) FROM payment_record WHERE status = $5) AS refunds`,
    [
      [OutboxStatus.PENDING, OutboxStatus.SENDING, OutboxStatus.RETRY],
      [ReservationStatus.PENDING_DB, ReservationStatus.RELEASE_PENDING],
      [CompensationStatus.PENDING, CompensationStatus.RUNNING, CompensationStatus.RETRY],
      [OrderStatus.CREATED, OrderStatus.PAYING],
      PaymentStatus.REFUND_PENDING,
      ReservationStatus.MANUAL_REQUIRED,
    ],
  );
  const row = result.rows[0];
  const open: string[] = [];
  if (row === undefined) return ['PostgreSQL gave no answer'];
  if (row.outbox !== '0') open.push(`${row.outbox} Outbox rows due`);
  if (row.reservations !== '0') open.push(`${row.reservations} reservation rows in state 0 or 30`);
  // Nothing of the system's moves it on: `seckill-lab manual release` does.
  if (row.manual !== '0') open.push(`${row.manual} reservations wait for a human (MANUAL_REQUIRED)`);
  if (row.compensations !== '0') open.push(`${row.compensations} compensations due`);
  if (probe.ordersEnd && row.unpaid !== '0') open.push(`${row.unpaid} orders neither paid nor over`);
  if (probe.ordersEnd && row.refunds !== '0') open.push(`${row.refunds} refunds under way`);
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

/**
 * Role `projector`: writes the events of the Outbox back to Redis, so that queries see results and returned units can be sold again.
 *
 * Redis is only a mirror, so a projection may come twice and late; it may not be skipped. A batch is applied wholly before its offsets are
 * committed: while Redis is away the projector keeps its place in the group with heartbeats and tries again. An answer that got lost is
 * no problem: versions, and the record's own mark of a returned unit, make a repeat harmless.
 */
import { DeadLetterCause } from '../../domain/dead-letter.js';
import { parseOrderEvent, type OrderEvent } from '../../domain/order-event.js';
import type { ReservationId, SkuKey } from '../../domain/ids.js';
import type { RoleConfig } from '../../domain/role-config.js';
import type { BatchContext, LogConsumer, ReceivedMessage } from '../order-log/order-log-port.js';
import type { DeadLetterSender } from '../recovery/dead-letter-sender.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { ProjectionReply, ProjectionUpdate, StockPort } from '../stock/stock-port.js';
import { projectionUpdateOf } from './projection-update.js';

export interface ProjectorDependencies {
  readonly stock: StockPort;
  /** Subscribed to the events topic with the projector's group. */
  readonly consumer: LogConsumer;
  /** Takes the events that are none. */
  readonly deadLetters: DeadLetterSender;
  readonly metrics: RoleMetrics;
}

const RETRY_STEP_MS = 100;
const RETRY_MAX_MS = 500;

interface SkuUpdates {
  readonly sku: SkuKey;
  readonly updates: ProjectionUpdate[];
}

/** Joins the group and runs until `stop()` or until the consumer dies. Takes ownership of its dependencies and closes them. */
export async function startProjector({ stock, consumer, deadLetters, metrics }: ProjectorDependencies, _config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const applied = metrics.counter('projection_events_total', 'Events by what became of them', { result: 'applied' });
  const stale = metrics.counter('projection_events_total', 'Events by what became of them', { result: 'stale' });
  const unknownRecord = metrics.counter('projection_events_total', 'Events by what became of them', { result: 'unknown-record' });
  const malformedEvents = metrics.counter('projection_events_total', 'Events by what became of them', { result: 'malformed' });
  const released = metrics.counter('reservation_released_count', 'Units given back to Redis');
  const retried = metrics.counter('projection_retry_total', 'Attempts to apply events that failed');
  const { observer } = surroundings;
  let stopping = false;

  async function handle(messages: readonly ReceivedMessage[], context: BatchContext): Promise<void> {
    const { bySku, reservationIds, malformed } = readBatch(messages);
    if (reservationIds.length > 0) {
      await observer.reached('projector.before-apply', reservationIds);
      for (const { sku, updates } of bySku) await applyAll(sku, updates, context);
      await observer.reached('projector.after-apply', reservationIds);
    }
    for (const { message, problems } of malformed) {
      const failure = { cause: DeadLetterCause.MALFORMED, detail: problems.join('; '), attempts: 1, firstSeenAtMs: surroundings.clock.nowMs() };
      await deadLetters.bury(message, failure, context);
      malformedEvents.add();
    }
  }

  async function applyAll(sku: SkuKey, updates: readonly ProjectionUpdate[], context: BatchContext): Promise<void> {
    let rest = updates;
    for (let attempt = 1; ; attempt += 1) {
      const replies = await stock.project(sku, rest);
      rest = rest.slice(takeDone(replies));
      if (rest.length === 0) return;
      retried.add();
      if (attempt === 1) surroundings.log('warn', 'Redis does not take events; trying again', { events: rest.length, reason: reasonOf(replies) });
      await pause(Math.min(RETRY_STEP_MS * attempt, RETRY_MAX_MS), () => stopping || !context.isRunning());
      // Rejecting leaves the offsets where they are, so the batch comes again.
      if (stopping || !context.isRunning()) throw new Error('stopped before the events were applied');
      await context.heartbeat();
    }
  }

  /** Counts the replies up to the first that is not done. */
  function takeDone(replies: readonly ProjectionReply[]): number {
    let done = 0;
    for (const reply of replies) {
      if (reply.outcome !== 'done') break;
      done += 1;
      if (reply.applied === 'applied') applied.add();
      else if (reply.applied === 'stale') stale.add();
      else unknownRecord.add();
      if (reply.unitReturned) released.add();
    }
    return done;
  }

  await consumer.run(handle, () => undefined);
  return {
    fatal: consumer.fatal,
    async health() {
      const problems: string[] = [];
      if (!consumer.ready()) problems.push('not in its consumer group');
      if (!(await stock.ready())) problems.push('Redis does not answer as primary');
      return problems;
    },
    async stop() {
      stopping = true;
      await consumer.stop();
      await Promise.all([stock.close(), deadLetters.close()]);
    },
  };
}

function reasonOf(replies: readonly ProjectionReply[]): string | null {
  for (const reply of replies) if (reply.outcome !== 'done') return reply.reason;
  return null;
}

interface ReadBatch {
  /** In the order of the batch. */
  readonly bySku: readonly SkuUpdates[];
  readonly reservationIds: readonly ReservationId[];
  readonly malformed: readonly { readonly message: ReceivedMessage; readonly problems: readonly string[] }[];
}

function readBatch(messages: readonly ReceivedMessage[]): ReadBatch {
  const bySku = new Map<string, SkuUpdates>();
  const reservationIds: ReservationId[] = [];
  const malformed: { message: ReceivedMessage; problems: readonly string[] }[] = [];
  const add = (event: OrderEvent, update: ProjectionUpdate): void => {
    const name = `${event.activityId}:${event.skuId}`;
    const known = bySku.get(name);
    if (known === undefined) bySku.set(name, { sku: { activityId: event.activityId, skuId: event.skuId }, updates: [update] });
    else known.updates.push(update);
    reservationIds.push(event.reservationId);
  };
  for (const message of messages) {
    const parsed = parseOrderEvent(message.value);
    if (!parsed.ok) {
      malformed.push({ message, problems: parsed.problems });
      continue;
    }
    const update = projectionUpdateOf(parsed.event);
    if (update !== null) add(parsed.event, update);
  }
  return { bySku: [...bySku.values()], reservationIds, malformed };
}

/** Waits, but looks every 50 ms whether there is a reason not to. */
async function pause(durationMs: number, isOver: () => boolean): Promise<void> {
  const until = performance.now() + durationMs;
  while (!isOver() && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(50, Math.max(1, until - performance.now()))));
  }
}

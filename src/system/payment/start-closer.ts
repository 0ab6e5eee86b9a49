/**
 * Role `closer`: ends unpaid orders when their time is over (004 §6). A close message is only a hint to look: the order's `expire_at` and state in
 * PostgreSQL decide, by PostgreSQL's clock, so that a message that is early, late or repeated does nothing. A sweep finds what no message has ended.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { parseOrderEvent } from '../../domain/order-event.js';
import type { OrderId } from '../../domain/ids.js';
import { EventType } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { withHeartbeats } from '../fulfilment/with-heartbeats.js';
import type { BatchContext, LogConsumer, ReceivedMessage } from '../order-log/order-log-port.js';
import { runLoop } from '../role-loop.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { OrderLife } from './order-life-port.js';

export interface CloserDependencies {
  readonly life: OrderLife;
  /** Subscribed to the closes topic with the closer's group. */
  readonly consumer: LogConsumer;
  readonly metrics: RoleMetrics;
}

/** Orders of one transaction: enough that the hot row is taken seldom, few enough that it is held for milliseconds. */
export const CLOSE_PAGE_SIZE = 100;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 500;

/** Starts consuming and sweeping, and returns at once. Takes ownership of its dependencies and closes them. */
export function startCloser({ life, consumer, metrics }: CloserDependencies, config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const { tuning } = config;
  const closedBy = (by: 'message' | 'sweep') => metrics.counter('order_closed_total', 'Orders that timed out, by what found them', { by });
  const recorders = { message: closedBy('message'), sweep: closedBy('sweep'), idle: metrics.counter('order_close_idle_total', 'Close messages that had nothing to do'), refused: metrics.counter('order_close_refused_total', 'Orders that the books forbid to close') };
  let stopping = false;

  async function closePage(orderIds: readonly OrderId[], context: BatchContext): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      // Rejecting leaves the offsets where they are, so the messages come again.
      if (stopping || !context.isRunning()) throw new Error(`stopped with ${String(orderIds.length)} orders not looked at; their messages come again`);
      const end = await withHeartbeats(life.closeExpired(orderIds), context);
      if (end.outcome === 'done') {
        recorders.message.add(end.value.length);
        recorders.idle.add(orderIds.length - end.value.length);
        return;
      }
      if (end.outcome === 'refused') {
        for (const half of halvesOrSkip(orderIds, end.reason)) await closePage(half, context);
        return;
      }
      surroundings.log('warn', 'orders not closed; trying again', { orders: orderIds.length, outcome: end.outcome, reason: end.reason });
      await withHeartbeats(delay(pauseMs), context);
    }
  }

  async function handle(messages: readonly ReceivedMessage[], context: BatchContext): Promise<void> {
    const orderIds = [...new Set(messages.flatMap((message) => orderIn(message, surroundings)))];
    for (const page of pagesOf(orderIds)) await closePage(page, context);
  }

  /** Nobody's order waits for one that the books forbid to close: halves find it, and it is left for a human. */
  function halvesOrSkip(orderIds: readonly OrderId[], reason: string): readonly (readonly OrderId[])[] {
    if (orderIds.length > 1) {
      const middle = Math.ceil(orderIds.length / 2);
      return [orderIds.slice(0, middle), orderIds.slice(middle)];
    }
    recorders.refused.add(orderIds.length);
    surroundings.log('error', 'an order cannot be closed: its books do not allow it', { orderId: orderIds[0] ?? null, reason });
    return [];
  }

  /** Orders closed. What fails comes again with the next pass. */
  async function sweepPage(orderIds: readonly OrderId[]): Promise<number> {
    const end = await life.closeExpired(orderIds);
    if (end.outcome === 'done') return end.value.length;
    let closed = 0;
    if (end.outcome === 'refused') for (const half of halvesOrSkip(orderIds, end.reason)) closed += await sweepPage(half);
    else surroundings.log('warn', 'swept orders not closed', { orders: orderIds.length, outcome: end.outcome, reason: end.reason });
    return closed;
  }

  /** True when there may be more. */
  async function sweep(): Promise<boolean> {
    const found = await life.findExpired(tuning.closerSweepGraceMs, CLOSE_PAGE_SIZE);
    if (found.outcome !== 'done' || found.value.length === 0) return false;
    const closed = await sweepPage(found.value);
    recorders.sweep.add(closed);
    return found.value.length === CLOSE_PAGE_SIZE && closed > 0;
  }

  const sweeper = runLoop({ pass: sweep, intervalMs: tuning.closerSweepIntervalMs });
  const failed = new Promise<Error>((resolve) => {
    consumer.run(handle, () => undefined).catch((error: unknown) => {
      resolve(error instanceof Error ? error : new Error(String(error)));
    });
  });
  return Promise.resolve({
    fatal: Promise.race([failed, consumer.fatal, sweeper.fatal]),
    async health() {
      const problems: string[] = [];
      if (!consumer.ready()) problems.push('not in its consumer group');
      if (!(await life.ready())) problems.push('PostgreSQL does not answer');
      return problems;
    },
    async stop() {
      stopping = true;
      await Promise.all([consumer.stop(), sweeper.stop()]);
      await life.close();
    },
  });
}

/** What is no close message is nobody's order: the sweep finds the order that it may have meant. */
function orderIn(message: ReceivedMessage, surroundings: RoleSurroundings): OrderId[] {
  const parsed = parseOrderEvent(message.value);
  if (parsed.ok && parsed.event.type === EventType.ORDER_CLOSE_DUE && parsed.event.orderId !== null) return [parsed.event.orderId];
  const problem = parsed.ok ? `an event of type ${parsed.event.type}` : parsed.problems.join('; ');
  surroundings.log('error', 'not a close message', { partition: message.partition, offset: message.offset, problem: problem.slice(0, 300) });
  return [];
}

function pagesOf(orderIds: readonly OrderId[]): OrderId[][] {
  return Array.from({ length: Math.ceil(orderIds.length / CLOSE_PAGE_SIZE) }, (_, place) => orderIds.slice(place * CLOSE_PAGE_SIZE, (place + 1) * CLOSE_PAGE_SIZE));
}

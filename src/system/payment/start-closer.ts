/**
 * Role `closer`: ends unpaid orders when their time is over (004 §6). A close message is only a hint to look: the order's `expire_at` and state in
 * PostgreSQL decide, by PostgreSQL's clock, so that a message that is early, late or repeated does nothing. A sweep finds what no message has ended.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { DeadLetterCause } from '../../domain/dead-letter.js';
import { parseOrderEvent } from '../../domain/order-event.js';
import type { OrderId } from '../../domain/ids.js';
import { EventType } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { withHeartbeats } from '../fulfilment/with-heartbeats.js';
import type { BatchContext, LogConsumer, ReceivedMessage } from '../order-log/order-log-port.js';
import type { DeadLetterSender } from '../recovery/dead-letter-sender.js';
import { runLoop } from '../role-loop.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { OrderLife } from './order-life-port.js';

export interface CloserDependencies {
  readonly life: OrderLife;
  /** Subscribed to the closes topic with the closer's group. */
  readonly consumer: LogConsumer;
  readonly deadLetters: DeadLetterSender;
  readonly metrics: RoleMetrics;
}

/** Orders of one transaction: enough that the hot row is taken seldom, few enough that it is held for milliseconds. */
export const CLOSE_PAGE_SIZE = 100;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 500;
/** Tries of a page that others were in the way of, before it is cut: one order of it may meet them each time. */
const CONTESTED_TRIES_BEFORE_SPLIT = 3;
/** One order that PostgreSQL answers for and never takes: after so many times `deadLetterAttempts`, about half a minute, its message is given up; the sweep goes on trying. */
const STUCK_FACTOR = 7;

/** Starts consuming and sweeping, and returns at once. Takes ownership of its dependencies and closes them. */
export function startCloser({ life, consumer, deadLetters, metrics }: CloserDependencies, config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const { tuning } = config;
  const closedBy = (by: 'message' | 'sweep') => metrics.counter('order_closed_total', 'Orders that timed out, by what found them', { by });
  const recorders = { message: closedBy('message'), sweep: closedBy('sweep'), idle: metrics.counter('order_close_idle_total', 'Close messages that had nothing to do'), refused: metrics.counter('order_close_refused_total', 'Orders that the books forbid to close') };
  let stopping = false;

  async function closePage(page: readonly Hint[], context: BatchContext): Promise<void> {
    const orderIds = [...new Set(page.map(({ orderId }) => orderId))];
    let contests = 0;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      // Rejecting leaves the offsets where they are, so the messages come again.
      if (stopping || !context.isRunning()) throw new Error(`stopped with ${String(orderIds.length)} orders not looked at; their messages come again`);
      const end = await withHeartbeats(life.closeExpired(orderIds), context);
      if (end.outcome === 'done') {
        recorders.message.add(end.value.length);
        recorders.idle.add(orderIds.length - end.value.length);
        return;
      }
      if (end.answered === true) contests += 1;
      if (end.outcome === 'refused' || contests >= (orderIds.length > 1 ? CONTESTED_TRIES_BEFORE_SPLIT : tuning.deadLetterAttempts * STUCK_FACTOR)) {
        const halves = halvesOrNone(page, end.reason);
        for (const half of halves) await closePage(half, context);
        if (halves.length === 0) await Promise.all(page.map(({ message }) => bury(message, DeadLetterCause.ANOMALY, end.reason, context)));
        return;
      }
      surroundings.log('warn', 'orders not closed; trying again', { orders: orderIds.length, outcome: end.outcome, reason: end.reason });
      await withHeartbeats(delay(pauseMs), context);
    }
  }

  async function handle(messages: readonly ReceivedMessage[], context: BatchContext): Promise<void> {
    const hints: Hint[] = [];
    for (const message of messages) {
      const read = readHint(message);
      if ('problem' in read) await bury(message, DeadLetterCause.MALFORMED, read.problem, context);
      else hints.push(read);
    }
    for (const page of pagesOf(hints)) await closePage(page, context);
  }

  /** Out of the way of the messages behind it; the sweep still finds the order that it may have meant. */
  async function bury(message: ReceivedMessage, cause: DeadLetterCause, detail: string, context: BatchContext): Promise<void> {
    await deadLetters.bury(message, { cause, detail, attempts: 1, firstSeenAtMs: surroundings.clock.nowMs() }, context);
  }

  /** Nobody's order waits for one that the books forbid to close: halves find it, and it is left for a human. None: this is the one. */
  function halvesOrNone<One extends { readonly orderId: OrderId }>(page: readonly One[], reason: string): readonly (readonly One[])[] {
    if (new Set(page.map(({ orderId }) => orderId)).size > 1) {
      const middle = Math.ceil(page.length / 2);
      return [page.slice(0, middle), page.slice(middle)];
    }
    recorders.refused.add();
    surroundings.log('error', 'an order cannot be closed', { orderId: page[0]?.orderId ?? null, reason });
    return [];
  }

  /** Orders closed. What fails comes again with the next pass. */
  async function sweepPage(page: readonly { readonly orderId: OrderId }[]): Promise<number> {
    const end = await life.closeExpired(page.map(({ orderId }) => orderId));
    if (end.outcome === 'done') return end.value.length;
    let closed = 0;
    // One order that others are in the way of does not keep the rest of its page open.
    if (end.outcome === 'refused' || (end.answered === true && page.length > 1)) for (const half of halvesOrNone(page, end.reason)) closed += await sweepPage(half);
    else surroundings.log('warn', 'swept orders not closed', { orders: page.length, outcome: end.outcome, reason: end.reason });
    return closed;
  }

  /** True when there may be more. */
  async function sweep(): Promise<boolean> {
    const found = await life.findExpired(tuning.closerSweepGraceMs, CLOSE_PAGE_SIZE);
    if (found.outcome !== 'done' || found.value.length === 0) return false;
    const closed = await sweepPage(found.value.map((orderId) => ({ orderId })));
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
      await Promise.all([life.close(), deadLetters.close()]);
    },
  });
}

/** An order to look at, and the message that said so. */
interface Hint {
  readonly orderId: OrderId;
  readonly message: ReceivedMessage;
}

function readHint(message: ReceivedMessage): Hint | { readonly problem: string } {
  const parsed = parseOrderEvent(message.value);
  if (!parsed.ok) return { problem: parsed.problems.join('; ').slice(0, 300) };
  const { type, orderId } = parsed.event;
  return type === EventType.ORDER_CLOSE_DUE && orderId !== null ? { orderId, message } : { problem: `no close message: ${type}` };
}

function pagesOf(hints: readonly Hint[]): Hint[][] {
  return Array.from({ length: Math.ceil(hints.length / CLOSE_PAGE_SIZE) }, (_, place) => hints.slice(place * CLOSE_PAGE_SIZE, (place + 1) * CLOSE_PAGE_SIZE));
}

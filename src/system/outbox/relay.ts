/**
 * The role `relay`: carries committed events from the Outbox to the broker. Claim in one transaction, send in none, mark in another; a crash
 * in between repeats an event and never loses one (paper 001 §7.7).
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import type { RoleConfig } from '../../domain/role-config.js';
import { describeFailure, isBug } from '../ledger/postgres-failure.js';
import type { LogProducer, SendResult } from '../order-log/order-log-port.js';
import { createRoleMetrics, type RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { ClaimedEvent, FailedEvent, OutboxStore } from './outbox-store.js';
import { relayMetrics, type RelayMetrics } from './relay-metrics.js';
import { createPace, retryDelayMs } from './relay-backoff.js';

/** kafkajs groups messages by partition in quadratic time: 500 is the most one send should carry (LIBRARIES §1.8). */
const PAGE_SIZE = 500;
const FIGURES_INTERVAL_MS = 1_000;

export interface RelayDeps {
  readonly producer: LogProducer;
  readonly store: OutboxStore;
  /** The role's recorder. Absent: counted, and shown nowhere. */
  readonly metrics?: RoleMetrics;
}

interface Relay extends Omit<RelayDeps, 'metrics'> {
  readonly config: RoleConfig;
  readonly surroundings: RoleSurroundings;
  readonly metrics: RelayMetrics;
}

/** Starts the relay's loop and returns at once. The returned role owns `deps`. Any number of relays may run side by side. */
export async function startRelay(deps: RelayDeps, config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const metrics = relayMetrics(deps.metrics ?? createRoleMetrics(config.role, config.instance));
  const relay: Relay = { ...deps, config, surroundings, metrics };
  const stopping = new AbortController();
  const loop = runLoop(relay, stopping.signal);
  const fatal = new Promise<Error>((resolve) => {
    loop.catch((error: unknown) => {
      resolve(error instanceof Error ? error : new Error(String(error)));
    });
  });
  return Promise.resolve({
    health: () => healthOf(deps),
    fatal,
    async stop() {
      stopping.abort();
      await loop.catch(() => undefined);
      await deps.producer.close();
      await deps.store.close();
    },
  });
}

async function runLoop(relay: Relay, stopping: AbortSignal): Promise<void> {
  const pace = createPace(relay.config.tuning.relayIntervalMs);
  let recoverAtMs = 0;
  let figuresAtMs = 0;
  let isIdle = true;
  while (!stopping.aborted) {
    let pauseMs: number;
    try {
      if (performance.now() >= recoverAtMs) {
        recoverAtMs = performance.now() + relay.config.tuning.leaseMs / 2;
        relay.metrics.recoveredLeases.add(await relay.store.recoverLeases(relay.config.tuning.leaseMs));
      }
      if (performance.now() >= figuresAtMs) {
        figuresAtMs = performance.now() + FIGURES_INTERVAL_MS;
        relay.metrics.show(await relay.store.figures());
      }
      const lingerMs = isIdle ? await lingerLeftMs(relay) : 0;
      if (lingerMs > 0) {
        pauseMs = lingerMs;
      } else {
        const { claimed, sent } = await relayPage(relay);
        isIdle = claimed === 0;
        if (isIdle) pauseMs = pace.idle();
        else pauseMs = sent > 0 ? pace.worked() : pace.failed();
      }
    } catch (error) {
      if (isBug(error)) throw error;
      relay.surroundings.log('warn', 'relay round failed', { error: describeFailure(error) });
      pauseMs = pace.failed();
    }
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
  }
}

/** How long a relay that had nothing to do leaves the first events of a burst, where it is told to: they cost the database nearly as much as the orders that are under way. */
async function lingerLeftMs({ config, store }: Relay): Promise<number> {
  const { relayLingerMs } = config.tuning;
  if (relayLingerMs === 0) return 0;
  const { unsent, oldestMs } = await store.figures();
  // An age below zero is a clock that went back.
  return unsent === 0 ? 0 : Math.min(relayLingerMs, Math.max(0, relayLingerMs - oldestMs));
}

/** One page: claim, send all at once, mark by outcome. */
async function relayPage(relay: Relay): Promise<{ readonly claimed: number; readonly sent: number }> {
  const { observer } = relay.surroundings;
  // A name per claim, not per relay: a mark that comes after the lease ran out must not touch what the same relay claimed anew.
  const claim = `${relay.config.instance}:${randomUUID()}`;
  const claimedAtMs = performance.now();
  const events = await relay.store.claim(PAGE_SIZE, claim);
  if (events.length === 0) return { claimed: 0, sent: 0 };
  const ids = events.map((event) => event.eventId);
  await observer.reached('relay.after-claim', ids);
  // Stopped and woken after its lease: others have these events now, and sending them here would only overtake newer ones.
  if (performance.now() - claimedAtMs >= relay.config.tuning.leaseMs) {
    relay.metrics.lostLeases.add(events.length);
    return { claimed: events.length, sent: 0 };
  }
  const results = await Promise.all(events.map((event) => send(relay, event)));
  await observer.reached('relay.after-send', ids);
  const sent = events.filter((_event, place) => results[place]?.outcome === 'sent').map((event) => event.eventId);
  await mark(relay, claim, sent, failuresOf(events, results));
  await observer.reached('relay.after-mark', ids);
  return { claimed: events.length, sent: sent.length };
}

async function send(relay: Relay, event: ClaimedEvent): Promise<SendResult> {
  const headers = { ...event.headers, eventId: event.eventId, type: event.type };
  const result = await relay.producer.send(event.topic, { key: event.key, value: event.value, headers });
  relay.metrics.sends[result.outcome].add();
  return result;
}

/** Unknown is treated as not sent: a second copy is harmless, a lost event is not. */
function failuresOf(events: readonly ClaimedEvent[], results: readonly SendResult[]): readonly FailedEvent[] {
  return events.flatMap((event, place) => {
    const result = results[place];
    if (result === undefined || result.outcome === 'sent') return [];
    const error = `${result.outcome}: ${result.reason ?? 'no reason given'}`;
    return [{ eventId: event.eventId, delayMs: retryDelayMs(event.retryCount, Math.random()), error }];
  });
}

async function mark(relay: Relay, claim: string, sent: readonly string[], failed: readonly FailedEvent[]): Promise<void> {
  if (sent.length > 0) {
    const marked = await relay.store.markSent(sent, claim);
    if (marked < sent.length) relay.metrics.lostLeases.add(sent.length - marked);
  }
  if (failed.length === 0) return;
  const { marked, dead } = await relay.store.markFailed(failed, claim);
  if (marked < failed.length) relay.metrics.lostLeases.add(failed.length - marked);
  relay.surroundings.log('warn', 'events not sent', { events: failed.length, dead: dead.length, error: failed[0]?.error ?? null });
  for (const eventId of dead) relay.surroundings.log('error', 'event given up after its last try', { eventId });
}

async function healthOf(deps: RelayDeps): Promise<readonly string[]> {
  const [broker, postgres] = await Promise.all([deps.producer.ready(), deps.store.ready()]);
  return [...(broker ? [] : ['the broker does not answer']), ...(postgres ? [] : ['PostgreSQL does not answer'])];
}

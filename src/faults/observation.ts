/**
 * How faults look at what they did: bounded asking, and what a link's byte counters say.
 */
import type { SeenOutage } from '../facts/fault-record.js';
import type { LinkCounters, LinkTarget, ToxicSpec } from '../facts/targets.js';
import type { FaultClock } from './fault.js';

/** Asks `holds` every `everyMs` until it is true; false when `boundMs` have passed or `signal` is aborted. */
export async function until(clock: FaultClock, boundMs: number, everyMs: number, holds: () => Promise<boolean>, signal?: AbortSignal): Promise<boolean> {
  const deadlineUs = clock.monoUs() + boundMs * 1000;
  for (;;) {
    if (await holds()) return true;
    if (clock.monoUs() >= deadlineUs || signal?.aborted === true) return false;
    await clock.wait(everyMs, signal);
  }
}

/** Bytes of one direction that went into the proxy and never came out, between two readings. */
export function lostBytes(before: LinkCounters, after: LinkCounters, stream: ToxicSpec['stream']): number {
  const received = stream === 'upstream' ? after.upstreamReceivedBytes - before.upstreamReceivedBytes : after.downstreamReceivedBytes - before.downstreamReceivedBytes;
  const sent = stream === 'upstream' ? after.upstreamSentBytes - before.upstreamSentBytes : after.downstreamSentBytes - before.downstreamSentBytes;
  return received - sent;
}

/** All bytes that came into the proxy from either side, between two readings; those of connections that ended in between. */
export function countedBytes(before: LinkCounters, after: LinkCounters): number {
  return after.upstreamReceivedBytes - before.upstreamReceivedBytes + (after.downstreamReceivedBytes - before.downstreamReceivedBytes);
}

/** The counters once they have not moved for 100 ms, or as they are after `boundMs`: connections that were cut take a moment to be counted. */
export async function settledCounters(clock: FaultClock, link: LinkTarget, boundMs = 1_500): Promise<LinkCounters> {
  let last = await link.counters();
  await until(clock, boundMs, 100, async () => {
    const now = await link.counters();
    const still = countedBytes(last, now) === 0;
    last = now;
    return still;
  });
  return last;
}

/** `gateway-redis 1,234 B, consumer-redis 0 B`. */
export function byteList(rows: readonly { readonly name: string; readonly bytes: number }[]): string {
  return rows.map((row) => `${row.name} ${row.bytes.toLocaleString('en-US')} B`).join(', ');
}

/** The part of a proof that says when the store was seen gone; nothing where it was not seen so twice. */
export function seenOutage(fromUs: number | null, toUs: number | null): { readonly outage?: SeenOutage } {
  return fromUs === null || toUs === null || toUs <= fromUs ? {} : { outage: { fromUs, toUs } };
}

/**
 * slow-consumer: the order consumer's way to PostgreSQL gets slow, every round trip by the same time (paper `004` §5: lag is a time, not a count). The consumer
 * works on, but behind the arrivals, so that the oldest message grows old.
 *
 * Landed: the toxic was seen on the link, exchanges over it took as long as it holds them up, and the consumer went through steps on it meanwhile (as `link-toxic`).
 */
import { z } from 'zod';

import type { ToxicSpec } from '../facts/targets.js';
import { defineFault } from './fault.js';
import { holdsLink } from './fault-holds.js';
import { effectInWords } from './link-effect.js';
import { narrowRate, toxicName, toxicOnLink } from './link-toxic.js';
import { durationMs, startTime } from './option-values.js';

export const slowConsumer = defineFault({
  name: 'slow-consumer',
  description: 'the way from the order consumers to PostgreSQL is slow for s seconds: latency per answer, or rate=KB/s',
  example: 'slow-consumer@t=2s,s=10,latency=500',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(10_000),
    latency: durationMs('ms').refine((ms) => ms >= 1, 'is a millisecond at least').default(500),
    rate: narrowRate.optional(),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsLink('consumer-postgres', options)],
  predict: (options) => `the toxic is seen on consumer-postgres, ${effectInWords(toxicOf('', options))} there, and the consumer goes through steps that use the link meanwhile`,
  begin: (options, surroundings) => toxicOnLink('consumer-postgres', toxicOf(surroundings.id, options), options.s, surroundings),
});

function toxicOf(id: string, { latency, rate }: { readonly latency: number; readonly rate?: number | undefined }): ToxicSpec {
  const name = toxicName(id);
  return rate === undefined ? { name, type: 'latency', stream: 'downstream', attributes: { latency, jitter: 0 } } : { name, type: 'bandwidth', stream: 'downstream', attributes: { rate } };
}

/**
 * slow-consumer: the order consumer's way to PostgreSQL gets slow, every round trip by the same time (paper `004` §5: lag is a time, not a count). The consumer
 * works on, but behind the arrivals, so that the oldest message grows old.
 *
 * Landed: the toxic was seen on the link and the consumer went through steps on it meanwhile (as `link-toxic`).
 */
import { z } from 'zod';

import { defineFault } from './fault.js';
import { holdsLink } from './fault-holds.js';
import { toxicName, toxicOnLink } from './link-toxic.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';

export const slowConsumer = defineFault({
  name: 'slow-consumer',
  description: 'the way from the order consumers to PostgreSQL is slow for s seconds: latency per answer, or rate=KB/s',
  example: 'slow-consumer@t=2s,s=10,latency=500',
  schema: z.strictObject({
    t: startTime,
    s: durationMs('s').default(10_000),
    latency: durationMs('ms').default(500),
    rate: wholeNumber(1, 1_000_000).optional(),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: () => 1,
  holds: (options) => [holdsLink('consumer-postgres', options)],
  predict: () => 'the toxic is seen on consumer-postgres and the consumer goes through steps that use the link meanwhile',
  begin: ({ s, latency, rate }, surroundings) => {
    const name = toxicName(surroundings.id);
    return toxicOnLink(
      'consumer-postgres',
      rate === undefined ? { name, type: 'latency', stream: 'downstream', attributes: { latency, jitter: 0 } } : { name, type: 'bandwidth', stream: 'downstream', attributes: { rate } },
      s,
      surroundings,
    );
  },
});

/**
 * sent-before-sending: the relay marks its events SENT and then sends them (paper `001` §7.7; CASES C33). Whoever dies in between has forgotten them.
 */
import type { OutboxStore } from '../system/outbox/outbox-store.js';
import type { Mutant } from './mutant.js';
import { relayDies } from './plans/cuts.js';

function hasty(outbox: OutboxStore): OutboxStore {
  return {
    ...outbox,
    async claim(limit, claim) {
      const events = await outbox.claim(limit, claim);
      if (events.length > 0) await outbox.markSent(events.map(({ eventId }) => eventId), claim);
      return events;
    },
    markSent: (eventIds) => Promise.resolve(eventIds.length),
  };
}

export const sentBeforeSending: Mutant = {
  name: 'sent-before-sending',
  description: 'The relay marks events as sent before it sends them.',
  warnedBy: '001 §7.7',
  caughtBy: 'outbox-complete',
  showsUnder: relayDies,
  sql: [],
  overrides: (config) => (config.role === 'relay' ? { wrap: { outbox: hasty } } : {}),
};

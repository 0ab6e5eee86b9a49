/**
 * The call that a process makes at once after a step, by link: what `cut-at-step` can lose there. A step that is not named, or a link that is not, is followed by
 * none that belongs to the same piece of work: what passes on the link then (the next page, a poll, a heartbeat, another transaction) is somebody else's.
 */
import type { LinkName } from '../domain/roles.js';
import type { StepName } from '../domain/steps.js';

const STATEMENT = 'the next statement of the transaction';
const COMMIT = 'COMMIT';

const CALLS: Readonly<Partial<Record<StepName, Readonly<Partial<Record<LinkName, string>>>>>> = {
  'gateway.before-reserve': { 'gateway-redis': 'the script that reserves' },
  'gateway.after-reserve': { 'gateway-kafka': 'the sending of the message' },
  'gateway.before-send': { 'gateway-kafka': 'the sending of the message' },
  'gateway.after-send': { 'gateway-redis': 'the mark that the message was sent' },

  'scanner.after-claim': { 'scanner-postgres': 'the question what became of the reservations' },
  'scanner.before-resend': { 'scanner-kafka': 'the sending of the messages' },
  'scanner.after-resend': { 'scanner-redis': 'the mark that the messages were sent' },

  'consumer.received': { 'consumer-postgres': 'the beginning of the transaction' },
  'consumer.after-inbox': { 'consumer-postgres': STATEMENT },
  'consumer.after-reservation': { 'consumer-postgres': STATEMENT },
  'consumer.after-order': { 'consumer-postgres': STATEMENT },
  'consumer.after-allocate': { 'consumer-postgres': STATEMENT },
  'consumer.after-ledger': { 'consumer-postgres': STATEMENT },
  'consumer.after-outbox': { 'consumer-postgres': COMMIT },
  'consumer.before-commit': { 'consumer-postgres': COMMIT },

  'relay.after-claim': { 'relay-kafka': 'the sending of the events' },
  'relay.after-send': { 'relay-postgres': 'the mark that the events were sent' },

  'projector.before-apply': { 'projector-redis': 'the script that applies the events' },

  'payment.after-record': { 'payment-postgres': STATEMENT },
  'payment.before-commit': { 'payment-postgres': COMMIT },

  'closer.after-close': { 'closer-postgres': STATEMENT },
  'closer.after-release': { 'closer-postgres': COMMIT },
  'closer.before-commit': { 'closer-postgres': COMMIT },

  'undertaker.before-commit': { 'undertaker-postgres': COMMIT },

  'reconciler.after-diff': { 'reconciler-postgres': 'the plan of the repairs' },
  'reconciler.after-adjust': { 'reconciler-postgres': 'the note that a repair is done' },
};

/** In words; null: none follows. */
export function callAfterStep(step: StepName, link: LinkName): string | null {
  return CALLS[step]?.[link] ?? null;
}

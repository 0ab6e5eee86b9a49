/**
 * The named steps of the protocol: points where a crash changes what must be recovered (DESIGN §4). The list is closed. Each role announces
 * each of its steps through `StepObserver`; the lab counts them inside the role process and kills, pauses or cuts at the Nth.
 */
import type { LinkName, RoleName } from './roles.js';

export interface Step {
  readonly role: RoleName;
  /** Links on which a cut at this step matters. */
  readonly links: readonly LinkName[];
  /** Scenario that reaches the step without any fault. */
  readonly scenario: string;
}

export const STEPS = {
  'gateway.admitted': { role: 'gateway', links: [], scenario: 'hot-sku' },
  'gateway.before-reserve': { role: 'gateway', links: ['gateway-redis'], scenario: 'hot-sku' },
  'gateway.after-reserve': { role: 'gateway', links: ['gateway-redis', 'gateway-kafka'], scenario: 'hot-sku' },
  'gateway.before-send': { role: 'gateway', links: ['gateway-kafka'], scenario: 'hot-sku' },
  'gateway.after-send': { role: 'gateway', links: ['gateway-kafka', 'gateway-redis'], scenario: 'hot-sku' },
  'gateway.after-mark-sent': { role: 'gateway', links: ['gateway-redis'], scenario: 'hot-sku' },
  'gateway.before-reply': { role: 'gateway', links: [], scenario: 'hot-sku' },

  'scanner.after-claim': { role: 'scanner', links: ['scanner-redis'], scenario: 'kill-after-lua' },
  'scanner.before-resend': { role: 'scanner', links: ['scanner-kafka'], scenario: 'kill-after-lua' },
  'scanner.after-resend': { role: 'scanner', links: ['scanner-kafka', 'scanner-redis'], scenario: 'kill-after-lua' },
  'scanner.after-mark': { role: 'scanner', links: ['scanner-redis'], scenario: 'kill-after-lua' },

  'consumer.received': { role: 'consumer', links: ['consumer-kafka'], scenario: 'hot-sku' },
  'consumer.after-inbox': { role: 'consumer', links: ['consumer-postgres'], scenario: 'hot-sku' },
  'consumer.after-reservation': { role: 'consumer', links: ['consumer-postgres'], scenario: 'hot-sku' },
  'consumer.after-order': { role: 'consumer', links: ['consumer-postgres'], scenario: 'hot-sku' },
  'consumer.after-allocate': { role: 'consumer', links: ['consumer-postgres'], scenario: 'hot-sku' },
  'consumer.after-ledger': { role: 'consumer', links: ['consumer-postgres'], scenario: 'hot-sku' },
  'consumer.after-outbox': { role: 'consumer', links: ['consumer-postgres'], scenario: 'hot-sku' },
  'consumer.before-commit': { role: 'consumer', links: ['consumer-postgres'], scenario: 'hot-sku' },
  'consumer.after-commit': { role: 'consumer', links: ['consumer-postgres', 'consumer-kafka'], scenario: 'hot-sku' },
  'consumer.after-offset-commit': { role: 'consumer', links: ['consumer-kafka'], scenario: 'hot-sku' },

  'consumer.after-dead-letter': { role: 'consumer', links: ['consumer-kafka'], scenario: 'poison-messages' },

  'relay.after-claim': { role: 'relay', links: ['relay-postgres', 'relay-kafka'], scenario: 'hot-sku' },
  'relay.after-send': { role: 'relay', links: ['relay-kafka', 'relay-postgres'], scenario: 'hot-sku' },
  'relay.after-mark': { role: 'relay', links: ['relay-postgres'], scenario: 'hot-sku' },

  'projector.before-apply': { role: 'projector', links: ['projector-redis'], scenario: 'hot-sku' },
  'projector.after-apply': { role: 'projector', links: ['projector-redis', 'projector-kafka'], scenario: 'hot-sku' },

  'payment.after-record': { role: 'payment', links: ['payment-postgres'], scenario: 'pay-vs-close' },
  'payment.before-commit': { role: 'payment', links: ['payment-postgres'], scenario: 'pay-vs-close' },
  'payment.after-commit': { role: 'payment', links: ['payment-postgres'], scenario: 'pay-vs-close' },

  'closer.after-close': { role: 'closer', links: ['closer-postgres'], scenario: 'expiry-wave' },
  'closer.after-release': { role: 'closer', links: ['closer-postgres'], scenario: 'expiry-wave' },
  'closer.before-commit': { role: 'closer', links: ['closer-postgres'], scenario: 'expiry-wave' },
  'closer.after-commit': { role: 'closer', links: ['closer-postgres', 'closer-kafka'], scenario: 'expiry-wave' },

  'undertaker.before-commit': { role: 'undertaker', links: ['undertaker-postgres'], scenario: 'poison-messages' },
  'undertaker.after-commit': { role: 'undertaker', links: ['undertaker-postgres', 'undertaker-kafka'], scenario: 'poison-messages' },

  'reconciler.after-diff': { role: 'reconciler', links: ['reconciler-redis', 'reconciler-kafka', 'reconciler-postgres'], scenario: 'reconcile-under-load' },
  'reconciler.after-adjust': { role: 'reconciler', links: ['reconciler-redis', 'reconciler-postgres'], scenario: 'reconcile-under-load' },
  'reconciler.after-rebuild': { role: 'reconciler', links: ['reconciler-redis'], scenario: 'redis-failover' },

  'retention.after-delete': { role: 'retention', links: ['retention-postgres'], scenario: 'expiry-wave' },
} as const satisfies Record<string, Step>;

export type StepName = keyof typeof STEPS;
export const STEP_NAMES = Object.keys(STEPS) as readonly StepName[];

export function isStepName(text: string): text is StepName {
  return Object.hasOwn(STEPS, text);
}

/**
 * Told at every step, with the ids of the batch at hand (reservation ids, else request or event ids). `reached` is awaited by the system.
 * The system's own observer does nothing; the lab's may never return (kill), stop the process (pause), or resolve late (cut).
 */
export interface StepObserver {
  reached(step: StepName, ids: readonly string[]): void | Promise<void>;
}

export const silentStepObserver: StepObserver = {
  reached() {
    // Nothing listens in production.
  },
};

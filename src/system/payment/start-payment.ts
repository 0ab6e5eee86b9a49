/** Role `payment`: users pay, cancel and ask their money back; the channel tells what became of payments (paper 001 §7.6, §9.9). */
import type { PaymentAnswer } from '../../domain/payment-contract.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { runLoop } from '../role-loop.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { PaymentChannel } from './payment-channel-port.js';
import type { OrderLife } from './order-life-port.js';
import { askAboutPayments } from './payment-poller.js';
import { answerPayment } from './payment-requests.js';
import { startPaymentServer } from './payment-server.js';

export interface PaymentDependencies {
  readonly life: OrderLife;
  /** null: there is no channel to ask. */
  readonly channel: PaymentChannel | null;
  readonly metrics: RoleMetrics;
}

/** Less than the first wait of a question, so that none waits much longer than it must. */
const POLL_INTERVAL_DIVISOR = 4;
const POLL_INTERVAL_MIN_MS = 50;

/** Listens and starts asking. Rejects with Node's error when the port cannot be had. Takes ownership of its dependencies and closes them. */
export async function startPayment({ life, channel, metrics }: PaymentDependencies, config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole & { readonly address: RoleConfig['listen'] }> {
  const { tuning } = config;
  const health = async (): Promise<readonly string[]> => ((await life.ready()) ? [] : ['PostgreSQL does not answer']);
  const seconds = metrics.histogram('payment_request_duration_seconds', 'Requests of users and callbacks of channels');
  const log: RoleSurroundings['log'] = (level, text, fields) => {
    surroundings.log(level, text, fields);
  };
  const server = await startPaymentServer({
    listen: config.listen,
    health,
    metrics,
    log,
    tracing: surroundings.tracing,
    answer: (request) => answerPayment(request, { life, callbackSecret: tuning.paymentCallbackSecret, log }),
    onAnswer(action, { answer }, startedAtMs) {
      seconds.observe((performance.now() - startedAtMs) / 1_000);
      count(metrics, action, answer);
    },
  });
  const poller = channel === null ? null : runLoop({
    pass: () => askAboutPayments({
      life, channel, log,
      onAsked: (outcome) => { metrics.counter('payment_query_total', 'Questions to the channel by their outcome', { outcome }).add(); },
    }),
    intervalMs: Math.max(POLL_INTERVAL_MIN_MS, Math.floor(tuning.paymentQueryAfterMs / POLL_INTERVAL_DIVISOR)),
  });
  return {
    address: server.address,
    health,
    fatal: poller?.fatal ?? new Promise(() => undefined),
    async stop() {
      await Promise.all([server.stop(1_000), channel?.close(), poller?.stop()]);
      await life.close();
    },
  };
}

function count(metrics: RoleMetrics, action: string, { code, repeated }: PaymentAnswer): void {
  metrics.counter('payment_requests_total', 'Requests and callbacks by what they led to', { action, code, repeated: String(repeated) }).add();
}

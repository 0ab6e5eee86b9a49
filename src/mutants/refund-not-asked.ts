/**
 * refund-not-asked: money that has to go back is booked as refunded, and the channel is never asked for it (paper `001` §7.6: money that comes after the end goes
 * back). By the system's own books everything is in order; only the channel's tell another story.
 */
import type { PaymentChannel } from '../system/payment/payment-channel-port.js';
import type { Mutant } from './mutant.js';
import { moneyGoesBack } from './plans/lives.js';

function sure(channel: PaymentChannel | null): PaymentChannel | null {
  if (channel === null) return null;
  return {
    query: (provider, paymentId) => channel.query(provider, paymentId),
    refund: () => Promise.resolve({ outcome: 'refunded' }),
    close: () => channel.close(),
  };
}

export const refundNotAsked: Mutant = {
  name: 'refund-not-asked',
  description: 'Refunds are booked as done without asking the payment channel.',
  warnedBy: '001 §7.6',
  caughtBy: 'money-accounted',
  showsUnder: moneyGoesBack,
  sql: [],
  overrides: (config) => (config.role === 'compensator' ? { wrap: { channel: sure } } : {}),
};

/**
 * Payments whose end is not known are asked for at the channel: a callback may never come. What the channel answers goes the same way as a callback;
 * what it does not answer makes the payment UNKNOWN, and it is asked again, until its end is known or it is sure that nobody paid. Nothing is ever undone or
 * paid twice by asking.
 */
import type { RoleSurroundings } from '../role.js';
import type { ChannelState, PaymentChannel } from './payment-channel-port.js';
import type { OrderLife, PaymentQuestion } from './order-life-port.js';

export interface PollerTools {
  readonly life: OrderLife;
  readonly channel: PaymentChannel;
  readonly log: RoleSurroundings['log'];
  readonly onAsked: (outcome: ChannelState['outcome']) => void;
}

/** Few at once: the channel is slow at worst, and a payment that waits a little longer harms nobody. */
const PAGE_SIZE = 16;

/** After each so many questions a human is told. `count_business.sql` counts payments from there on. */
const UNRESOLVED_AFTER_QUESTIONS = 10;

/** Asks about one page; true when there may be more. */
export async function askAboutPayments(tools: PollerTools): Promise<boolean> {
  const due = await tools.life.claimQuestions(PAGE_SIZE);
  if (due.outcome !== 'done') return false;
  await Promise.all(due.value.map((question) => askAbout(question, tools)));
  return due.value.length === PAGE_SIZE;
}

async function askAbout(question: PaymentQuestion, { life, channel, log, onAsked }: PollerTools): Promise<void> {
  const { paymentId, provider, askedTimes } = question;
  const state = await channel.query(provider, paymentId);
  onAsked(state.outcome);
  if (state.outcome === 'never-heard') {
    const ended = await life.endQuestions(paymentId);
    if (ended.outcome === 'done' && ended.value) log('info', 'the channel never heard of a payment whose order has ended: nobody paid', { paymentId, orderId: question.orderId });
    return;
  }
  if (state.outcome === 'no-answer' || state.status === 'PENDING') {
    await life.markUnknown(paymentId);
    if (askedTimes % UNRESOLVED_AFTER_QUESTIONS === 0) log('error', 'a payment stays unknown: a human has to ask the channel', { paymentId, orderId: question.orderId, askedTimes });
    return;
  }
  const { status, tradeNo, orderId, amount, currency } = state;
  // The answer to a question has no callback id of the channel's; the trade and what was said of it is what a repeat has in common.
  const end = await life.takeCallback({ provider, callbackId: `query:${status}:${tradeNo}`, tradeNo, orderId, paymentId, amount, currency, status });
  if (end.outcome !== 'done') log('warn', 'the channel\'s answer could not be written down; it will be asked again', { paymentId, reason: end.reason });
  else if (!end.value.repeated && (end.value.code === 'CONTRADICTION' || end.value.code === 'UNMATCHED')) {
    log('error', 'what the channel answers fits no order as it should', { paymentId, orderId, tradeNo, code: end.value.code, reason: end.value.reason });
  }
}

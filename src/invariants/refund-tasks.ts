/** Who is to pay a late or returned payment back, and whether he still means to. */
import type { Facts } from '../facts/facts.js';
import type { CompensationRow, PaymentRow } from '../facts/store-facts.js';
import { grouped, postgresOf } from './indexes.js';
import { rememberedPerFacts } from './remembered.js';

const REFUND = 20;
const DONE = 20;
const DEAD = 40;
const CANCELLED = 50;
/** States in which nobody works on the task any more. */
const WORDS: Readonly<Record<number, string>> = {
  [DONE]: 'the task that was to make it calls itself done', [DEAD]: 'the task that was to make it was given up (DEAD)', [CANCELLED]: 'the task that was to make it was cancelled',
};

export interface RefundTask {
  /** There is none, or nobody works on it any more: without a human the money stays. */
  readonly isGivenUp: boolean;
  /** Why; empty while somebody works on it. */
  readonly words: string;
}

const refundTasks: (facts: Facts) => ReadonlyMap<string, readonly CompensationRow[]> = rememberedPerFacts((facts) =>
  grouped(postgresOf(facts).compensations.filter((task) => task.type === REFUND), (task) => task.idempotencyKey));

/** Of a payment in REFUND_PENDING. One task per payment, by its key. */
export function refundTaskOf(facts: Facts, { paymentId }: PaymentRow): RefundTask {
  const tasks = refundTasks(facts).get(`REFUND:${paymentId}`) ?? [];
  if (tasks.length === 0) return { isGivenUp: true, words: 'nobody has been told to make it' };
  const over = tasks.map((task) => WORDS[task.status]);
  return over.includes(undefined) ? { isGivenUp: false, words: '' } : { isGivenUp: true, words: over[0] ?? '' };
}

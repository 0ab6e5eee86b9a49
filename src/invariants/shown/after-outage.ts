/**
 * That the sale went on after a store had been away, by what clients heard who asked after it: the last of the outages that were seen counts. And that what a fault took
 * away was wanted at that moment: an outage that came when all was done shows nothing.
 */
import { ANSWER_CODES_BY_NUMBER } from '../../domain/reason-codes.js';
import { arrivalKindAt, userIdAt } from '../../facts/arrival-plan.js';
import type { Facts } from '../../facts/facts.js';
import { wallToMonoUs } from '../../facts/timeline.js';
import { commitHistoryOf, orderCommittedAtUs } from '../commit-history.js';
import { planOf } from '../indexes.js';
import { provenOutages, type Outage } from '../outages.js';
import type { CountedFigure } from './shown-figure.js';

const ACCEPTED: ReadonlySet<string | undefined> = new Set(['QUEUED', 'QUEUED_PENDING_MESSAGE', 'ORDERED']);

function lastOutage(facts: Facts): Outage | null {
  return provenOutages(facts).reduce<Outage | null>((last, outage) => (last === null || outage.toUs > last.toUs ? outage : last), null);
}

/** How many arrivals that were sent after the outage the caller wants; null: the evidence is missing; 0 without an outage. */
function countAfter(facts: Facts, wanted: (index: number, code: string | undefined, outage: Outage) => boolean): number | null {
  if (!facts.history.present || !facts.faults.present) return null;
  const outage = lastOutage(facts);
  if (outage === null) return 0;
  const { columns } = facts.history.value;
  let count = 0;
  for (let index = 0; index < columns.length; index += 1) {
    if ((columns.sentUs[index] ?? NaN) > outage.toUs && wanted(index, ANSWER_CODES_BY_NUMBER[columns.answerCode[index] ?? 255], outage)) count += 1;
  }
  return count;
}

export const letInAfterOutage: CountedFigure = {
  what: 'new requests accepted after the store was back',
  count: (facts) => countAfter(facts, (index, code) => ACCEPTED.has(code) && arrivalKindAt(planOf(facts), index) === 'fresh'),
};

/** What was rebuilt still knows who has one. */
export const secondOrdersRefused: CountedFigure = {
  what: 'users with an order from before the outage who asked for another after it and were refused',
  count: (facts) => {
    if (!facts.postgres.present) return null;
    const { orders } = facts.postgres.value;
    const madeUs = new Map(orders.map((order) => [order.userId, wallToMonoUs(facts.run.clock, order.createdAtUs)]));
    return countAfter(facts, (index, code, { fromUs }) => code === 'USER_HAS_ONE' && (madeUs.get(userIdAt(planOf(facts), index)) ?? Infinity) < fromUs);
  },
};

/** By the commit log, from the moment at which the first fault that took PostgreSQL away saw it gone. */
export const ordersAfterOutage: CountedFigure = {
  what: 'orders committed after PostgreSQL had gone',
  count: (facts) => {
    if (!facts.postgres.present || !facts.commitLog.present || !facts.faults.present) return null;
    const outages = facts.faults.value.filter(({ name, proof }) => name === 'pg-outage' && proof === 'landed');
    const goneUs = outages.reduce((first, { outage, injectedUs }) => Math.min(first, outage?.fromUs ?? injectedUs ?? Infinity), Infinity);
    const history = commitHistoryOf(facts);
    return facts.postgres.value.orders.filter(({ orderId }) => {
      const committedUs = orderCommittedAtUs(history, orderId);
      return committedUs !== null && wallToMonoUs(facts.run.clock, committedUs) > goneUs;
    }).length;
  },
};

/** As the faults saw it that landed. */
export const messagesUnheard: CountedFigure = {
  what: 'messages that the broker stored and whose answer was lost',
  count: (facts) => (facts.faults.present ? facts.faults.value.reduce((sum, { proof, unheardMessages }) => sum + (proof === 'landed' ? (unheardMessages ?? 0) : 0), 0) : null),
};

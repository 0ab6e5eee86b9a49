/**
 * no-undersell: at the end there are as many orders as there could be: the stock, or every eligible user who was not refused by 429 or 5xx. A
 * unit that came back after the last eligible arrival is excused, since nobody was left to buy it.
 *
 * And nobody is refused for want of stock while units are free (`false-refusals.ts`), even if they are sold to somebody else in the end.
 *
 * A user is eligible when a well-formed request of his was decided (200, 202, 409 or 410). Bots, and users who only heard 403, 429 (also for a limit on
 * what they hold) or 5xx, or nothing at all, are left out: the least number that the unknowns allow. In a void run the load was another one than claimed, so nothing is judged.
 */
import { ARRIVAL_KINDS, BOT_KINDS } from '../facts/load-spec.js';
import { wallToMonoUs } from '../facts/timeline.js';
import { userIdAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { ARRIVAL_OUTCOMES } from '../facts/history.js';
import { claimedLoad } from './claimed-load.js';
import { planOf, postgresOf, redisByReservation, reservationsInDeadLetters } from './indexes.js';
import type { Invariant } from './invariant.js';
import { falseRefusals } from './false-refusals.js';
import { endOfReservation, withdrawnReservations } from './reservation-end.js';
import { orderIsLive, reservationIsRefused } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';

export const noUndersell: Invariant = {
  name: 'no-undersell',
  title: 'Nothing is left on the shelf',
  whatItMeans: 'As long as somebody wants to buy and is let in, every unit is sold.',
  needs: ['history', 'postgres', 'commitLog', 'settle'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(noUndersell, facts);
    if (facts.history.present) {
      const load = claimedLoad(facts);
      if (load.outcome === 'void') return { ...tally.verdict(), outcome: 'not-judged', note: `the load was void: ${load.reasons.join('; ')}` };
      if (facts.postgres.present) judgeSales(facts, tally);
      judgeRefusals(facts, tally);
    }
    return tally.verdict();
  },
};

const MALFORMED = ARRIVAL_KINDS.indexOf('malformed');
const NEVER_ELIGIBLE: ReadonlySet<number> = new Set([MALFORMED, ...BOT_KINDS.map((kind) => ARRIVAL_KINDS.indexOf(kind))]);
const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');
const DECIDED: ReadonlySet<number> = new Set([200, 202, 409, 410]);
/**
 * How long a unit may take from its return in PostgreSQL until a client can get it: Outbox, projection, and the short life of the gateways'
 * sold-out marks. Three seconds, the bound of order-within-3s for the way there.
 */
const RETURN_VISIBLE_WITHIN_US = 3_000_000;

interface Demand {
  /** Distinct users with a decided request. */
  readonly eligible: number;
  /** Last time such a user without an order was sent away; −∞: nobody was. */
  readonly lastSentAwayUs: number;
  readonly lastSentAway: string | null;
}

function demandOf(facts: Facts): Demand {
  if (!facts.history.present) return { eligible: 0, lastSentAwayUs: -Infinity, lastSentAway: null };
  const { columns } = facts.history.value;
  const plan = planOf(facts);
  const { rebuyAfterCancel } = facts.run.rules;
  const winners = new Set(postgresOf(facts).orders.filter((order) => !rebuyAfterCancel || orderIsLive(order.status)).map((order) => order.userId));
  // One flag per user: ordinals are dense and below the number of arrivals.
  const seen = new Uint8Array(plan.length);
  let eligible = 0;
  let lastSentAwayUs = -Infinity;
  let lastSentAway: string | null = null;
  for (let index = 0; index < columns.length; index += 1) {
    if (columns.outcome[index] !== ANSWERED || NEVER_ELIGIBLE.has(plan.kind[index] ?? MALFORMED) || !DECIDED.has(columns.httpStatus[index] ?? 0)) continue;
    const user = plan.user[index] ?? 0;
    if (seen[user] === 0) {
      seen[user] = 1;
      eligible += 1;
    }
    const sentUs = columns.sentUs[index] ?? -Infinity;
    if (columns.httpStatus[index] !== 410 || sentUs <= lastSentAwayUs) continue;
    const userId = userIdAt(plan, index);
    if (winners.has(userId)) continue;
    lastSentAwayUs = sentUs;
    lastSentAway = userId;
  }
  return { eligible, lastSentAwayUs, lastSentAway };
}

/** Units that are out of the sale without an order that stands, and users who have had theirs and may have no other. */
function spentFor(facts: Facts): { readonly units: number; readonly users: number } {
  const { orders, reservations } = postgresOf(facts);
  const waiting = new Set([
    ...reservations.filter((row) => row.status === 60 && row.orderId === null).map((row) => row.reservationId),
    // A poisonous message may speak of a reservation that never was: that one binds no unit.
    ...[...reservationsInDeadLetters(facts)].filter((id) => endOfReservation(facts, id).end === 'dead-letter' && (!facts.redis.present || redisByReservation(facts).has(id))),
  ]).size;
  const live = new Set(orders.filter((order) => orderIsLive(order.status)).map((order) => order.userId));
  const done = new Set(orders.filter((order) => !live.has(order.userId)).map((order) => order.userId));
  return { units: withdrawnReservations(facts).size + waiting, users: waiting + (facts.run.rules.rebuyAfterCancel ? 0 : done.size) };
}

/** Somebody wanted a unit that was there, and was told that there is none. */
function judgeRefusals(facts: Facts, tally: Tally): void {
  for (const { reservationId, takenMost } of falseRefusals(facts)) {
    tally.violation({
      kind: 'reservation', id: reservationId, subject: { reservationId },
      claim: `Reservation ${reservationId} was refused for want of stock when at most ${String(takenMost)} of ${String(facts.run.stock)} units had ever been taken.`,
    });
  }
}

function judgeSales(facts: Facts, tally: Tally): void {
  const { orders, reservations } = postgresOf(facts);
  const demand = demandOf(facts);
  const { stock, clock } = facts.run;
  const sold = orders.filter((order) => orderIsLive(order.status)).length;
  const spent = spentFor(facts);
  const expected = Math.max(0, Math.min(stock - spent.units, demand.eligible - spent.users));
  tally.check(expected);
  if (demand.eligible === 0) tally.gap('no request of any user was decided: nothing shows that selling works');
  else if (expected === 0) tally.notAsked('nothing is left that could have been sold');
  tally.remark(`${String(sold)} sold, stock ${String(stock)}, ${String(demand.eligible)} eligible users${spent.units === 0 ? '' : `, ${String(spent.units)} units withdrawn or waiting for a human`}`);
  if (sold >= expected) return;
  if (facts.settle.present && facts.settle.value.drainedUs === null) {
    tally.gap('not drained: orders may still come');
    return;
  }
  const endedLate = reservations.filter((row) =>
    (reservationIsRefused(row.status) || row.status === 40) &&
    (row.committedAtUs === null || wallToMonoUs(clock, row.committedAtUs) > demand.lastSentAwayUs - RETURN_VISIBLE_WITHIN_US));
  // A row without a commit time may have come back at any moment: it can be neither excused nor held against anybody.
  const undated = endedLate.filter((row) => row.committedAtUs === null).length;
  const missing = expected - sold - endedLate.length;
  if (missing <= 0) {
    if (undated > 0) tally.gap(`${String(undated)} units came back at an unknown time`);
    tally.remark(`${String(expected - sold)} units came back after the last eligible arrival`);
    return;
  }
  tally.violation({
    kind: 'user', id: demand.lastSentAway ?? 'none', severity: missing, subject: { userId: demand.lastSentAway },
    claim: `${String(sold)} of ${String(expected)} possible sales were made${demand.lastSentAway === null ? '' : `; user ${demand.lastSentAway} was sent away as sold out`}.`,
  });
}

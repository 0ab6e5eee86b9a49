/** Every figure that a scenario may have to come to, and the judgement whether it did. */
import type { Facts, ShownFigure, ShownSpec } from '../../facts/facts.js';
import type { RunFigures, ShownVerdict } from '../../facts/verdict.js';
import { letInAgain, turnedAwayInARow } from './admission-turns.js';
import { letInAfterOutage, messagesUnheard, ordersAfterOutage, secondOrdersRefused } from './after-outage.js';
import { ordersBeyondStock, ordersCarriedOver, ordersMade, ordersTimedOut, secondPurchases, unitsReleased } from './ended-orders.js';
import { lateMoneyReturned, races, racesWonByEnd, racesWonByPayment } from './payment-races.js';
import type { CountedFigure } from './shown-figure.js';
import { pausedAnswers, peopleLimited, tempSoldOutAnswers, turnedAwayByAdmission, turnedAwayByBreaker, turnedAwayByDraw, turnedAwayByPermit } from './turned-away.js';
import { callbacksArchived, eventsArchived, inboxRowsTrimmed, lossesExcused, repairs } from './upkeep.js';

export const COUNTED_FIGURES: Readonly<Record<ShownFigure, CountedFigure>> = {
  orders: ordersMade,
  races,
  'races-won-by-payment': racesWonByPayment,
  'races-won-by-end': racesWonByEnd,
  'late-money-returned': lateMoneyReturned,
  'orders-timed-out': ordersTimedOut,
  'orders-carried-over': ordersCarriedOver,
  'units-released': unitsReleased,
  'orders-beyond-stock': ordersBeyondStock,
  'second-purchases': secondPurchases,
  'temp-sold-out-answers': tempSoldOutAnswers,
  'turned-away-by-admission': turnedAwayByAdmission,
  'turned-away-in-a-row': turnedAwayInARow,
  'let-in-again': letInAgain,
  'paused-answers': pausedAnswers,
  'let-in-after-outage': letInAfterOutage,
  'second-orders-refused': secondOrdersRefused,
  'turned-away-by-breaker': turnedAwayByBreaker,
  'turned-away-by-permit': turnedAwayByPermit,
  'turned-away-by-draw': turnedAwayByDraw,
  'people-limited': peopleLimited,
  repairs,
  'losses-excused': lossesExcused,
  'inbox-rows-trimmed': inboxRowsTrimmed,
  'events-archived': eventsArchived,
  'callbacks-archived': callbacksArchived,
  'orders-after-outage': ordersAfterOutage,
  'messages-unheard': messagesUnheard,
};

/** Never throws: what cannot be counted is unknown. */
export function judgeShown(facts: Facts, spec: ShownSpec, figures: RunFigures): ShownVerdict {
  const { figure, atLeast, atMost = Infinity } = spec;
  const { what, count } = COUNTED_FIGURES[figure];
  try {
    const seen = count(facts, figures);
    return { ...spec, outcome: seen === null ? 'unknown' : seen >= atLeast && seen <= atMost ? 'shown' : 'not-shown', seen, what };
  } catch (cause) {
    return { ...spec, outcome: 'unknown', seen: null, what: `${what}; counting crashed: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
}

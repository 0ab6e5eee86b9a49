/** What one layer of the funnel turned away: the gateways' own count of that layer and the answers that clients heard, whichever is less. */
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../../domain/reason-codes.js';
import type { FunnelLayerName } from '../../domain/funnel.js';
import { arrivalKindAt } from '../../facts/arrival-plan.js';
import { BOT_KINDS, type ArrivalKind } from '../../facts/load-spec.js';
import { planOf } from '../indexes.js';
import type { CountedFigure } from './shown-figure.js';

function turnedAwayBy(layer: FunnelLayerName, code: AnswerCode, what: string): CountedFigure {
  return {
    what,
    count: (facts, figures) => {
      if (!facts.history.present || !facts.metrics.present) return null;
      const counted = figures.funnel.counts.filter((entry) => entry.layer === layer && entry.outcome !== 'passed').reduce((sum, entry) => sum + entry.count, 0);
      return Math.min(counted, figures.refusedByCode[code] ?? 0);
    },
  };
}

export const turnedAwayByAdmission = turnedAwayBy('admission-limit', 'QUEUE_FULL', 'requests that the admission limit turned away');
export const turnedAwayByBreaker = turnedAwayBy('breaker', 'UNAVAILABLE', 'requests that the open breaker turned away');
export const turnedAwayByPermit = turnedAwayBy('permit', 'PERMIT_INVALID', 'requests turned away for want of a good permit');

export const turnedAwayByDraw = turnedAwayBy('waiting-room', 'QUEUE_FULL', 'requests that waited for a draw and did not get in');

export const tempSoldOutAnswers: CountedFigure = {
  what: 'requests told that it is sold out for now',
  count: (facts, figures) => (facts.history.present ? figures.refusedByCode['TEMP_SOLD_OUT'] ?? 0 : null),
};

export const pausedAnswers: CountedFigure = {
  what: 'requests told that the sale is paused',
  count: (facts, figures) => (facts.history.present ? figures.refusedByCode['PAUSED'] ?? 0 : null),
};

const BOTS: ReadonlySet<ArrivalKind> = new Set(BOT_KINDS);

export const peopleLimited: CountedFigure = {
  what: 'requests of people, who are no bots, that were told to slow down',
  count: (facts) => {
    if (!facts.history.present) return null;
    const { answerCode } = facts.history.value.columns;
    const plan = planOf(facts);
    return Array.from(answerCode.keys()).filter((index) => ANSWER_CODES_BY_NUMBER[answerCode[index] ?? -1] === 'LIMITED' && !BOTS.has(arrivalKindAt(plan, index))).length;
  },
};

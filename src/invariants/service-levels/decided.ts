/**
 * decided: the share of the arrivals that were told what becomes of them. Nobody decides an arrival by not answering it, and an answer of 503 says that the system
 * could not: whatever a client who hears that does next, he was not served. No other promise is about all arrivals: a percentile lets its per cent go unanswered.
 */
import { HTTP_STATUS_OF } from '../../domain/answer.js';
import { ANSWER_CODES_BY_NUMBER } from '../../domain/reason-codes.js';
import { ARRIVAL_OUTCOMES } from '../../facts/history.js';
import { faultWindow, isOutside, levelNotJudged, unknownLevel, type ServiceLevelJudge } from './service-level.js';

const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');
/** By the number of the code; a code that nobody can read decides nothing. */
const DECIDES = ANSWER_CODES_BY_NUMBER.map((code) => HTTP_STATUS_OF[code] < 500);

export const decided: ServiceLevelJudge = (facts, spec) => {
  if (!facts.history.present) return unknownLevel(spec, `no client history: ${facts.history.reason}`);
  const { columns, complete } = facts.history.value;
  if (!complete) return unknownLevel(spec, 'the client history is incomplete');
  const window = faultWindow(facts);
  let [count, unanswered, undecided] = [0, 0, 0];
  for (let index = 0; index < columns.length; index += 1) {
    if (!isOutside(window, columns.intendedUs[index] ?? NaN)) continue;
    count += 1;
    if (columns.outcome[index] !== ANSWERED) unanswered += 1;
    else if (DECIDES[columns.answerCode[index] ?? 255] !== true) undecided += 1;
  }
  if (count === 0) return levelNotJudged(spec, 'no arrival lies outside of the faults and their recovery');
  const measured = (count - unanswered - undecided) / count;
  const parts = [
    `${String(count)} arrivals${window === null ? '' : ' outside of the faults'}`,
    ...(unanswered === 0 ? [] : [`${String(unanswered)} without an answer`]),
    ...(undecided === 0 ? [] : [`${String(undecided)} answered by 503 or nothing readable`]),
  ];
  return { name: spec.name, outcome: measured >= spec.bound ? 'met' : 'missed', measured, bound: spec.bound, unit: 'share', note: parts.join(', ') };
};

/**
 * api-p99: 99 % of the arrivals are answered within the bound, counted from the moment the client wanted to knock. An arrival without an answer is slower
 * than any bound: leaving it out would make a system look faster the more it drops.
 */
import { ARRIVAL_OUTCOMES } from '../../facts/history.js';
import { percentileOf } from '../../facts/load-honesty.js';
import { faultWindow, isOutside, levelNotJudged, unknownLevel, type ServiceLevelJudge } from './service-level.js';

const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');

export const apiP99: ServiceLevelJudge = (facts, spec) => {
  if (!facts.history.present) return unknownLevel(spec, `no client history: ${facts.history.reason}`);
  const { columns, complete } = facts.history.value;
  if (!complete) return unknownLevel(spec, 'the client history is incomplete');
  const window = faultWindow(facts);
  const latencies = new Float64Array(columns.length);
  let count = 0;
  let unanswered = 0;
  for (let index = 0; index < columns.length; index += 1) {
    const intendedUs = columns.intendedUs[index] ?? NaN;
    if (!isOutside(window, intendedUs)) continue;
    const answered = columns.outcome[index] === ANSWERED;
    if (!answered) unanswered += 1;
    const latencyUs = (columns.answeredUs[index] ?? NaN) - intendedUs;
    latencies[count] = answered && !Number.isNaN(latencyUs) ? latencyUs : Infinity;
    count += 1;
  }
  if (count === 0) return levelNotJudged(spec, 'no arrival lies outside of the faults and their recovery');
  const measured = percentileOf(latencies.subarray(0, count).sort(), 0.99) / 1000;
  const note = `${String(count)} arrivals${window === null ? '' : ' outside of the faults'}${unanswered === 0 ? '' : `, ${String(unanswered)} of them without an answer`}`;
  return {
    name: spec.name, outcome: measured <= spec.bound ? 'met' : 'missed', measured: Number.isFinite(measured) ? measured : null, bound: spec.bound, unit: 'ms',
    note: Number.isFinite(measured) ? note : `more than 1 % without an answer: ${note}`,
  };
};

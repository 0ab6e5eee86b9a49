/** winners-p99: 99 % of the accepted requests heard of their acceptance within the bound, counted from the intended time of the arrival that was told first. */
import { percentileOf } from '../../facts/load-honesty.js';
import { acceptancesOf } from '../acceptances.js';
import { faultWindow, isOutside, levelNotJudged, unknownLevel, type ServiceLevelJudge } from './service-level.js';

export const winnersP99: ServiceLevelJudge = (facts, spec) => {
  if (!facts.history.present) return unknownLevel(spec, `no client history: ${facts.history.reason}`);
  const { columns, complete } = facts.history.value;
  if (!complete) return unknownLevel(spec, 'the client history is incomplete');
  const window = faultWindow(facts);
  const seen = new Set<number>();
  const latencies: number[] = [];
  for (const told of acceptancesOf(facts)) {
    const intendedUs = columns.intendedUs[told.arrival] ?? NaN;
    if (told.kind !== 'first-answer' || seen.has(told.request) || !isOutside(window, intendedUs)) continue;
    seen.add(told.request);
    latencies.push(told.answeredUs - intendedUs);
  }
  if (latencies.length === 0) return levelNotJudged(spec, 'nobody was accepted outside of the faults and their recovery');
  const measured = percentileOf(Float64Array.from(latencies).sort(), 0.99) / 1000;
  return { name: spec.name, outcome: measured <= spec.bound ? 'met' : 'missed', measured, bound: spec.bound, unit: 'ms', note: `${String(latencies.length)} winners` };
};

/**
 * winners-p99: 99 % of those who got a reservation heard of it within the bound, counted from the intended time of their request's own arrival. Who learnt of it by a
 * repeat or a poll waited until then, and who never did is slower than any bound.
 */
import { percentileOf } from '../../facts/load-honesty.js';
import { winnersOf } from '../winners.js';
import { faultWindow, isOutside, levelNotJudged, unknownLevel, type ServiceLevelJudge } from './service-level.js';

export const winnersP99: ServiceLevelJudge = (facts, spec) => {
  if (!facts.history.present) return unknownLevel(spec, `no client history: ${facts.history.reason}`);
  if (!facts.history.value.complete) return unknownLevel(spec, 'the client history is incomplete');
  if (!facts.postgres.present) return unknownLevel(spec, `nobody knows who won: no evidence from postgres: ${facts.postgres.reason}`);
  const window = faultWindow(facts);
  const waits = winnersOf(facts).filter((winner) => isOutside(window, winner.intendedUs)).map((winner) => winner.waitedUs);
  if (waits.length === 0) return levelNotJudged(spec, 'nobody was accepted outside of the faults and their recovery');
  const never = waits.filter((waitedUs) => waitedUs === Infinity).length;
  const measured = percentileOf(Float64Array.from(waits).sort(), 0.99) / 1000;
  return {
    name: spec.name, outcome: measured <= spec.bound ? 'met' : 'missed', measured: Number.isFinite(measured) ? measured : null, bound: spec.bound, unit: 'ms',
    note: `${String(waits.length)} winners${never === 0 ? '' : `, ${String(never)} of whom never heard of it`}`,
  };
};

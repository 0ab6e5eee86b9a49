/** order-within-3s: the share of orders that were committed at most 3 s after their reservation in Redis. */
import { reservationToCommit } from '../order-delays.js';
import { faultWindow, isOutside, levelNotJudged, unknownLevel, type ServiceLevelJudge } from './service-level.js';

const WITHIN_US = 3_000_000;

export const orderWithin3s: ServiceLevelJudge = (facts, spec) => {
  if (!facts.postgres.present) return unknownLevel(spec, `no evidence from postgres: ${facts.postgres.reason}`);
  const { delays, undated } = reservationToCommit(facts);
  if (undated > 0) return unknownLevel(spec, `${String(undated)} orders without a time of reservation or commit`);
  const window = faultWindow(facts);
  const counted = delays.filter((delay) => isOutside(window, delay.reservedUs));
  if (counted.length === 0) return levelNotJudged(spec, delays.length === 0 ? 'there is no order' : 'no order was reserved outside of the faults and their recovery');
  const share = counted.filter((delay) => delay.delayUs <= WITHIN_US).length / counted.length;
  return { name: spec.name, outcome: share >= spec.bound ? 'met' : 'missed', measured: share, bound: spec.bound, unit: 'share', note: `${String(counted.length)} orders${window === null ? '' : ' outside of the faults'}` };
};

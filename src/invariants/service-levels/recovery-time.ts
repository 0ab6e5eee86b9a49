/** recovery-time and drained: how long it took from the last heal (without faults: from the end of the storm) until nothing was on its way. */
import { unknownLevel, type ServiceLevelJudge } from './service-level.js';

export const recoveryTime: ServiceLevelJudge = (facts, spec) => {
  if (!facts.settle.present) return unknownLevel(spec, `no account of the settling: ${facts.settle.reason}`);
  const { drainedUs, healedUs, boundMs, open } = facts.settle.value;
  const blank = { name: spec.name, bound: spec.bound, unit: 'ms' as const };
  if (drainedUs === null) return { ...blank, outcome: 'missed', measured: null, note: `not drained inside ${String(boundMs)} ms: ${open.join('; ') || 'no reason given'}` };
  const measured = Math.max(0, (drainedUs - healedUs) / 1000);
  return { ...blank, outcome: measured <= spec.bound ? 'met' : 'missed', measured, note: '' };
};

/** A fault from its option against fake targets: begun, or lived through from injection to proof. */
import type { FaultInHand, FaultProof, HealProof } from './fault.js';
import { fakeClock, type FakeTargets } from './fake-targets.test-support.js';
import { parseFaultOption } from './registry.js';

export function begin(option: string, targets: FakeTargets): { readonly hand: FaultInHand; readonly clock: ReturnType<typeof fakeClock> } {
  const parsed = parseFaultOption(option);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  const clock = fakeClock();
  return { hand: parsed.fault.begin({ id: 'f#1', targets, clock }), clock };
}

export async function live(option: string, targets: FakeTargets, signal = new AbortController().signal): Promise<{ readonly proof: FaultProof; readonly heal: HealProof }> {
  const { hand } = begin(option, targets);
  await hand.inject(signal);
  const heal = await hand.heal();
  return { proof: await hand.prove(), heal };
}

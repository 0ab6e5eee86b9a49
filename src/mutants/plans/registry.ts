/** All small runs by name. `seckill-lab run <name> --mutant <mutant>` runs one of them alone. */
import type { Scenario } from '../../scenarios/scenario.js';
import { commitAnswerLost, consumerDies, gatewayDies, relayDies, reserveAnswerLost, sendAnswerLost } from './cuts.js';
import { crowdedRow, crowdedToken, fewUsers, oneUserBurst, plainSale, retentionAtWork } from './sale.js';

export const MUTANT_PLANS: readonly Scenario[] = [
  plainSale, oneUserBurst, crowdedToken, crowdedRow, fewUsers, retentionAtWork, gatewayDies, consumerDies, relayDies, reserveAnswerLost, sendAnswerLost, commitAnswerLost,
];

export function mutantPlanNamed(name: string): Scenario | null {
  return MUTANT_PLANS.find((plan) => plan.name === name) ?? null;
}

/** All small runs by name. `seckill-lab run <name> --mutant <mutant>` runs one of them alone. */
import type { Scenario } from '../../scenarios/scenario.js';
import { commitAnswerLost, consumerDies, consumerDiesLate, gatewayDies, relayDies, reserveAnswerLost, sendAnswerLost, sendLost } from './cuts.js';
import { moneyGoesBack, poisonInSmall, repeatedReleases, secondChances, shortLives } from './lives.js';
import { acknowledgementsLost, brokerAway, counterOff, failoverSmall, failoverUnnoticed, redisAway, redisBlinks } from './outages.js';
import { batchedRow, crowdedRow, crowdedToken, oneUserTwoConsumers, oneUserBurst, permitsShown, plainSale, retentionAtWork, slowRedis } from './sale.js';

export const MUTANT_PLANS: readonly Scenario[] = [
  plainSale, oneUserBurst, crowdedToken, crowdedRow, oneUserTwoConsumers, slowRedis, retentionAtWork, gatewayDies, consumerDies, consumerDiesLate, relayDies, reserveAnswerLost,
  sendAnswerLost, sendLost, commitAnswerLost, shortLives, repeatedReleases, secondChances, redisBlinks, redisAway, brokerAway, acknowledgementsLost, counterOff, failoverSmall, failoverUnnoticed,
  batchedRow, permitsShown, moneyGoesBack, poisonInSmall,
];

export function mutantPlanNamed(name: string): Scenario | null {
  return MUTANT_PLANS.find((plan) => plan.name === name) ?? null;
}

/** All scenarios by name. Adding one touches its file and this list. */
import { dropBrokerAck } from './drop-broker-ack.js';
import { hotSku } from './hot-sku.js';
import { killAfterLua } from './kill-after-lua.js';
import { oneUserStorm } from './one-user-storm.js';
import { pgOutage } from './pg-outage.js';
import { redisDown } from './redis-down.js';
import type { Scenario } from './scenario.js';
import { stockOfOne } from './stock-of-one.js';

export const SCENARIOS: readonly Scenario[] = [hotSku, killAfterLua, dropBrokerAck, pgOutage, redisDown, stockOfOne, oneUserStorm];

export function scenarioNamed(name: string): Scenario | null {
  return SCENARIOS.find((scenario) => scenario.name === name) ?? null;
}

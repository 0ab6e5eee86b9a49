/** All scenarios by name. Adding one touches its file and this list. */
import { bots } from './bots.js';
import { brokerOutage } from './broker-outage.js';
import { dropBrokerAck } from './drop-broker-ack.js';
import { duplicateCompensation } from './duplicate-compensation.js';
import { expiryWave } from './expiry-wave.js';
import { hotSku } from './hot-sku.js';
import { killAfterLua } from './kill-after-lua.js';
import { oneUserStorm } from './one-user-storm.js';
import { payVsClose } from './pay-vs-close.js';
import { pgOutage } from './pg-outage.js';
import { poisonMessages } from './poison-messages.js';
import { recoveryFlood } from './recovery-flood.js';
import { reconcileUnderLoad } from './reconcile-under-load.js';
import { redisDown } from './redis-down.js';
import { redisFailover } from './redis-failover.js';
import { restartEverything } from './restart-everything.js';
import type { Scenario } from './scenario.js';
import { slowConsumer } from './slow-consumer.js';
import { soldOutReopens } from './sold-out-reopens.js';
import { stockOfOne } from './stock-of-one.js';

export const SCENARIOS: readonly Scenario[] = [
  hotSku, killAfterLua, dropBrokerAck, pgOutage, redisDown, stockOfOne, oneUserStorm,
  payVsClose, expiryWave, duplicateCompensation, slowConsumer, brokerOutage, recoveryFlood, soldOutReopens, bots, restartEverything, poisonMessages,
  redisFailover, reconcileUnderLoad,
];

export function scenarioNamed(name: string): Scenario | null {
  return SCENARIOS.find((scenario) => scenario.name === name) ?? null;
}

/** All scenarios by name. Adding one touches its file and this list. */
import { bots } from './bots.js';
import { brokerOutage } from './broker-outage.js';
import { cutAtCommit } from './cut-at-commit.js';
import { databaseNeglected } from './database-neglected.js';
import { deadlockScenario } from './deadlock.js';
import { diskFull } from './disk-full.js';
import { dropBrokerAck } from './drop-broker-ack.js';
import { duplicateCompensation } from './duplicate-compensation.js';
import { expiryWave } from './expiry-wave.js';
import { hotSku } from './hot-sku.js';
import { killAfterCommit } from './kill-after-commit.js';
import { killAfterLua } from './kill-after-lua.js';
import { killBeforeOutboxMark } from './kill-before-outbox-mark.js';
import { killInTransaction } from './kill-in-transaction.js';
import { oneUserStorm } from './one-user-storm.js';
import { payVsClose } from './pay-vs-close.js';
import { pgOutage } from './pg-outage.js';
import { poisonMessages } from './poison-messages.js';
import { poolExhaustedScenario } from './pool-exhausted.js';
import { recoveryFlood } from './recovery-flood.js';
import { reconcileUnderLoad } from './reconcile-under-load.js';
import { redisDown } from './redis-down.js';
import { redisEvictionScenario } from './redis-eviction.js';
import { redisFailover } from './redis-failover.js';
import { redisTailLossScenario } from './redis-tail-loss.js';
import { restartEverything } from './restart-everything.js';
import { roughNetwork } from './rough-network.js';
import { roughNetworkOfLife } from './rough-network-of-life.js';
import { rowLock } from './row-lock.js';
import { scannerStopped } from './scanner-stopped.js';
import type { Scenario } from './scenario.js';
import { scriptFlushScenario } from './script-flush.js';
import { serversCutOff } from './servers-cut-off.js';
import { serversKilled } from './servers-killed.js';
import { skewedClocks } from './skewed-clocks.js';
import { slowConsumer } from './slow-consumer.js';
import { soldOutReopens } from './sold-out-reopens.js';
import { spike300kFaults } from './spike-300k-faults.js';
import { spike300k } from './spike-300k.js';
import { spike600k } from './spike-600k.js';
import { standingStill } from './standing-still.js';
import { stockOfOne } from './stock-of-one.js';
import { waitingRoom } from './waiting-room.js';

export const SCENARIOS: readonly Scenario[] = [
  hotSku, killAfterLua, dropBrokerAck, pgOutage, redisDown, stockOfOne, oneUserStorm,
  payVsClose, expiryWave, duplicateCompensation, slowConsumer, brokerOutage, recoveryFlood, soldOutReopens, bots, waitingRoom, restartEverything, poisonMessages,
  redisFailover, reconcileUnderLoad,
  killInTransaction, killAfterCommit, cutAtCommit, killBeforeOutboxMark, scannerStopped,
  rowLock, deadlockScenario, poolExhaustedScenario, databaseNeglected, diskFull, serversKilled, serversCutOff, skewedClocks,
  scriptFlushScenario, redisEvictionScenario, redisTailLossScenario, roughNetwork, roughNetworkOfLife, standingStill,
  spike300k, spike600k, spike300kFaults,
];

export function scenarioNamed(name: string): Scenario | null {
  return SCENARIOS.find((scenario) => scenario.name === name) ?? null;
}

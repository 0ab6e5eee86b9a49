/** All faults by name, and the option text `name@key=value,…` that asks for one. */
import { archiveFailing } from './archive-failing.js';
import { autovacuumStarved } from './autovacuum-starved.js';
import { brokerOutage } from './broker-outage.js';
import { clockSkew } from './clock-skew.js';
import { cutAtStep } from './cut-at-step.js';
import { deadlock } from './deadlock.js';
import { diskIsFull } from './disk-full.js';
import { duplicateCompensation } from './duplicate-compensation.js';
import type { BindResult, Fault } from './fault.js';
import { foreignRedis } from './foreign-redis.js';
import { freezeRole } from './freeze-role.js';
import { killRole } from './kill-role.js';
import { linkToxic } from './link-toxic.js';
import { loseProduceAck } from './lose-produce-ack.js';
import { pauseAtStep } from './pause-at-step.js';
import { pgOutage } from './pg-outage.js';
import { poolExhausted } from './pool-exhausted.js';
import { poisonMessages } from './poison-messages.js';
import { redisDown } from './redis-down.js';
import { redisEviction } from './redis-eviction.js';
import { redisFailover } from './redis-failover.js';
import { redisTailLoss } from './redis-tail-loss.js';
import { restartEverything } from './restart-everything.js';
import { rowLockHeld } from './row-lock.js';
import { scriptFlush } from './script-flush.js';
import { slowConsumer } from './slow-consumer.js';
import { stopScanner } from './stop-scanner.js';
import { tamperRedis } from './tamper-redis.js';

export const FAULTS: readonly Fault[] = [
  killRole, loseProduceAck, pgOutage, redisDown, linkToxic, freezeRole, cutAtStep, pauseAtStep, brokerOutage, restartEverything, slowConsumer, duplicateCompensation, poisonMessages, redisFailover, tamperRedis, foreignRedis,
  stopScanner, clockSkew, scriptFlush, redisEviction, redisTailLoss, rowLockHeld, deadlock, poolExhausted, autovacuumStarved, archiveFailing, diskIsFull,
];

/** `lose-produce-ack@t=3s,n=20` → the fault with its options checked, or every problem at once, each ready to be shown. */
export function parseFaultOption(text: string): BindResult {
  const [name = '', ...rest] = text.split('@');
  const fault = FAULTS.find((candidate) => candidate.name === name);
  const problems: string[] = [];
  if (fault === undefined) problems.push(`no fault is called ${JSON.stringify(name)}; there are ${FAULTS.map((known) => known.name).join(' ')}`);
  if (rest.length > 1) problems.push(`more than one @ in ${JSON.stringify(text)}`);
  const raw: Record<string, string> = {};
  for (const pair of (rest[0] ?? '').split(',').filter((part) => part !== '')) {
    const [key = '', value = '', ...more] = pair.split('=');
    if (key === '' || value === '' || more.length > 0) problems.push(`${name}: ${JSON.stringify(pair)} is not key=value`);
    else if (Object.hasOwn(raw, key)) problems.push(`${name}: ${key} is given twice`);
    else raw[key] = value;
  }
  if (fault === undefined) return { ok: false, problems };
  const bound = fault.bind(raw);
  if (!bound.ok) problems.push(...bound.problems);
  return bound.ok && problems.length === 0 ? bound : { ok: false, problems };
}

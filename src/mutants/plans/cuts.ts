/** Small runs in which a process dies or an answer is lost at a step of the protocol. */
import { USUAL_ROLES } from '../../scenarios/scenario.js';
import { smallRun } from './small-run.js';

/** Gateways that die right after the Lua call leave reservations that only the scanner can finish. */
export const gatewayDies = smallRun({
  name: 'gateway-dies',
  claim: 'Units reserved by a gateway that dies at once still become orders.',
  roles: { ...USUAL_ROLES, gateway: 2 },
  faults: ['kill-role@step=gateway.after-reserve,every=8,times=2'],
});

/** Redelivery is the only way back in time: what is confirmed as sent the scanner looks at again after five times `resendAfterMs`. */
export const consumerDies = smallRun({
  name: 'consumer-dies',
  claim: 'Messages that a dying consumer had in hand come again, and each takes effect once.',
  strategies: { consumer: 'single' },
  tuning: { resendAfterMs: 4_000 },
  faults: ['kill-role@step=consumer.after-inbox,hit=40'],
  settleBoundMs: 12_000,
});

export const relayDies = smallRun({
  name: 'relay-dies',
  claim: 'Events that a dying relay had claimed are sent by the next one.',
  faults: ['kill-role@step=relay.after-claim,hit=2,every=2,times=2'],
});

/**
 * Answers are held back for a third of a second and then lost with the connection: whatever was asked meanwhile, Redis has done. Twice, and all in flight at once: of
 * single calls, cut one by one, some went out once only, since another answer had closed the connection a moment before (three calls showed it in nine runs of ten).
 * As many units as arrivals: what is taken twice must be there to be taken.
 */
export const reserveAnswerLost = smallRun({
  name: 'reserve-answer-lost',
  claim: 'Redis reserves and its answer is lost: a unit is taken once per request.',
  load: { durationMs: 3_000, mix: { repeatShare: 0, sameUserShare: 0, conflictShare: 0, malformedShare: 0, distinctUsers: null } },
  stock: 450,
  faults: [500, 1_700].map((t) => `link-toxic@link=gateway-redis,type=timeout,stream=downstream,timeout=350,t=${String(t)}ms,s=500ms`),
});

export const sendAnswerLost = smallRun({
  name: 'send-answer-lost',
  claim: 'The broker stores a message and its answer is lost: the unit is neither given back nor sold twice.',
  faults: ['cut-at-step@step=gateway.before-send,link=gateway-kafka,stream=downstream,hit=10,every=15,times=3'],
});

export const commitAnswerLost = smallRun({
  name: 'commit-answer-lost',
  claim: 'A COMMIT whose answer is lost takes effect once.',
  // One connection and one message a transaction: a cut hits exactly the COMMIT that is meant, and there are enough of them on any machine.
  strategies: { consumer: 'single' },
  tuning: { postgresPoolSize: 1 },
  faults: ['cut-at-step@step=consumer.before-commit,link=consumer-postgres,stream=downstream,hit=5,every=10,times=2'],
});

/** Events are written in the transaction that makes the order; this one never commits. */
export const consumerDiesLate = smallRun({
  name: 'consumer-dies-late',
  claim: 'Orders whose transaction a dying consumer did not commit are announced when they are made, and not before.',
  strategies: { consumer: 'batch:20' },
  faults: ['kill-role@step=consumer.before-commit,hit=2'],
});

export const sendLost = smallRun({
  name: 'send-lost',
  claim: 'Messages that never reached the broker are sent again.',
  faults: ['cut-at-step@step=gateway.before-send,link=gateway-kafka,stream=upstream,hit=10,every=15,times=2'],
  settleBoundMs: 8_000,
});

/**
 * rough-network-of-life: the ways of those who end orders, repair and clean up are slow, then half open, then reset, each to its stores: payment, closer,
 * compensator, undertaker, reconciler, retention. The links of the sale itself are those of `rough-network`.
 *
 * Claim: an order's end is as safe from its network as its beginning.
 */
import { DEFAULT_RECONCILER } from '../domain/reconciler-tuning.js';
import type { LinkName } from '../domain/roles.js';
import { LIFE_INVARIANTS, LIFE_ROLES, PLAIN_ANSWERS, PLAIN_CHANNEL, USUAL_CLIENTS, type Scenario } from './scenario.js';

/** Those with work of their own all the time, those that read a topic, and the three ways of the reconciler, whose pass ends at the first that is cut. */
const BUSY: readonly LinkName[] = ['payment-postgres', 'closer-postgres', 'retention-postgres', 'compensator-postgres'];
const READING: readonly LinkName[] = ['closer-kafka', 'undertaker-kafka'];
/**
 * Those who bury poison, in the order in which a letter passes: it is looked up, kept, and what it held is released. The windows follow each other without a gap, so
 * that the letters pile up before each and the next one has something to lose.
 */
const BURYING: readonly (readonly [LinkName, string])[] = [
  ['undertaker-redis', 'timeout'], ['undertaker-postgres', 'timeout'], ['undertaker-redis', 'reset_peer'], ['undertaker-postgres', 'reset_peer'], ['compensator-redis', 'timeout'], ['compensator-redis', 'reset_peer'],
];
const BURYING_FROM_MS = 33_000;
const BURYING_EACH_MS = 2_500;
const RECONCILER: readonly LinkName[] = ['reconciler-redis', 'reconciler-postgres', 'reconciler-kafka'];

const on = (links: readonly LinkName[], kind: string, t: string, s: string): readonly string[] => links.map((link) => `link-toxic@link=${link},${kind},t=${t},s=${s}`);

export const roughNetworkOfLife: Scenario = {
  name: 'rough-network-of-life',
  claim: 'With the links of payment, closing, compensation and repair slow, half open and reset in turn, every order ends once and all money is accounted for.',
  stock: 4_000,
  load: {
    ...USUAL_CLIENTS,
    ratePerSecond: 60,
    durationMs: 48_000,
    payers: {
      shares: { inTime: 0.3, late: 0.1, twice: 0.1, refund: 0.1, cancel: 0.1 }, channel: PLAIN_CHANNEL, answers: PLAIN_ANSWERS, afterMsMin: 100, afterMsMax: 1_000, lateAfterMsMin: 3_000, lateAfterMsMax: 4_000, callbackAfterMs: 50,
    },
  },
  roles: { ...LIFE_ROLES, undertaker: 1, reconciler: 1, retention: 1 },
  tuning: { paymentWindowMs: 3_000, outboxArchiveAfterMs: 4_000, retentionIntervalMs: 500, reconciler: { ...DEFAULT_RECONCILER, graceMs: 3_000, passIntervalMs: 1_000 } },
  faults: [
    ...on(BUSY, 'type=latency,latency=100,jitter=50', '6s', '3s'),
    ...on(BUSY, 'type=timeout', '11s', '2s'),
    ...on(BUSY, 'type=reset_peer', '16s', '1500ms'),
    ...on(READING, 'type=timeout', '21s', '3s'),
    ...on(READING, 'type=reset_peer', '29s', '2s'),
    `poison-messages@t=${String(BURYING_FROM_MS)}ms,n=24`,
    ...BURYING.flatMap(([link, type], at) => on([link], `type=${type}`, `${String(BURYING_FROM_MS + BURYING_EACH_MS * at)}ms`, `${String(BURYING_EACH_MS)}ms`)),
    ...RECONCILER.flatMap((link, at) => [...on([link], 'type=timeout', `${String(21 + 5 * at)}s`, '3s'), ...on([link], 'type=reset_peer', `${String(36 + 4 * at)}s`, '2500ms')]),
  ],
  settleBoundMs: 90_000,
  invariants: LIFE_INVARIANTS,
  serviceLevels: [{ name: 'drained', bound: 60_000 }],
};

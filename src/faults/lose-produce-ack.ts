/**
 * lose-produce-ack: the broker stores what the gateway sends and its answer never arrives, n times (paper `000` §7.8; CASES C17; LIBRARIES
 * §4.3). `close` drops the answer and ends the connection, so that the client learns at once; `hang` drops it and says nothing.
 *
 * One strike: arm the toxic → see a message whose append time at the broker is later than that (its answer meets the toxic) → see bytes that
 * entered the proxy and never left it → remove. Append times and not two readings of the topic's end: the message in flight at the arming is
 * the very one that is lost, and it would fall between them. The scanner writes to the same topic through its own link: a strike during which
 * it was about to resend proves nothing and is tried again.
 *
 * With `close` the toxic stays until the answer has met it: a broker that is last in line for the processor answers hundreds of milliseconds after it has stored. When the toxic
 * went 30 ms after the message was seen, four storms of six lost no answer at all, and everything was produced before the next try.
 */
import { z } from 'zod';

import type { LinkTarget, Targets, ToxicSpec } from '../facts/targets.js';
import { defineFault, type FaultClock, type FaultSurroundings } from './fault.js';
import { holdsLink } from './fault-holds.js';
import { lostBytes, until } from './observation.js';
import { durationMs, startTime, wholeNumber } from './option-values.js';

/** A strike that nobody produces into is given up after this, and so is one whose message is not answered within as long. */
const STRIKE_BOUND_MS = 2_000;
/** With `hang` nothing tells of the drop while the toxic stands: it stays so long after the message was seen. From append to the proxy takes an answer well under this on one host. */
const ANSWER_FLIGHT_MS = 30;
/** A message is appended before its answer is dropped, and no other connection can be opened through the toxic: nothing more is to come. */
const AFTER_DROP_BOUND_MS = 30;
/** Tries in which nothing went over the link, for each strike asked. Each lasts `STRIKE_BOUND_MS`, and a storm without produce calls has nothing to strike. */
const IDLE_TRIES_PER_STRIKE = 4;
/**
 * Tries that others spoiled, for each strike asked. The end of the storm is what ends a fault that cannot strike; this only keeps the loop bounded. With 4 a machine
 * at half its speed used up its tries while the scanner was resending all the time, and never tried in the quiet half of the storm (7 of 20 proven, 74 tries thrown away).
 */
const SPOILED_TRIES_PER_STRIKE = 100;

interface Strike {
  readonly stored: number;
  readonly droppedBytes: number;
  readonly scannerMoved: boolean;
}

/** Steps of the scanner that mean a message of its own may reach the topic. */
function scannerSends(targets: Targets): number {
  return targets.roles('scanner').reduce((sum, role) => sum + (role.stepCounts()['scanner.before-resend'] ?? 0) + (role.stepCounts()['scanner.after-resend'] ?? 0), 0);
}

function toxicOf(id: string, mode: 'close' | 'hang'): ToxicSpec {
  const name = `lab-${id.replace(/[^a-z0-9]+/g, '-')}`;
  return mode === 'close'
    ? { name, type: 'limit_data', stream: 'downstream', attributes: { bytes: 0 } }
    : { name, type: 'timeout', stream: 'downstream', attributes: { timeout: 0 } };
}

async function strikeOnce(link: LinkTarget, toxic: ToxicSpec, mode: 'close' | 'hang', { targets, clock }: FaultSurroundings, signal: AbortSignal): Promise<Strike> {
  const before = await link.counters();
  const scannerBefore = scannerSends(targets);
  const scannerMoved = (): boolean => scannerSends(targets) !== scannerBefore;
  const dropped = async (): Promise<number> => lostBytes(before, await link.counters(), 'downstream');
  let stored = 0;
  await link.addToxic(toxic);
  try {
    // The broker counts whole milliseconds; what it stored in the one that is running may have been answered before the toxic was there.
    const armedWallMs = clock.wallMs() + 1;
    let dropSeenUs = Infinity;
    await until(clock, STRIKE_BOUND_MS, 5, async () => {
      stored = await targets.witness.ordersStoredSince(armedWallMs);
      if (dropSeenUs === Infinity && (await dropped()) > 0) dropSeenUs = clock.monoUs();
      return stored > 0 || clock.monoUs() > dropSeenUs + AFTER_DROP_BOUND_MS * 1000;
    }, signal);
    // The bytes of a connection are counted when it ends: at the drop with `close`, and with `hang` when the client gives up or the toxic goes. Waiting for the client would
    // fill the time in which the scanner does not send yet.
    if (stored > 0 && mode === 'hang') await clock.wait(ANSWER_FLIGHT_MS);
    else if (stored > 0) await until(clock, STRIKE_BOUND_MS, 5, async () => scannerMoved() || (await dropped()) > 0, signal);
  } finally {
    await link.removeToxic(toxic.name);
  }
  let droppedBytes = 0;
  // Without a message there is nothing to prove, and a storm may be short: the next try is to be armed soon.
  await until(clock, stored > 0 ? 1_000 : 100, 10, async () => (droppedBytes = await dropped()) > 0, signal);
  return { stored, droppedBytes, scannerMoved: scannerMoved() };
}

const proves = (strike: Strike): boolean => strike.stored > 0 && strike.droppedBytes > 0 && !strike.scannerMoved;

/** What the tries that proved nothing have seen; empty without any. */
function unprovenInWords(strikes: readonly Strike[]): string {
  const unproven = strikes.filter((strike) => !proves(strike));
  const counted = (what: string, of: (strike: Strike) => boolean): string[] => {
    const count = unproven.filter(of).length;
    return count === 0 ? [] : [`${String(count)} ${what}`];
  };
  const reasons = [
    ...counted('beside a scanner that sends', ({ scannerMoved }) => scannerMoved),
    ...counted('without a message', ({ stored, droppedBytes, scannerMoved }) => !scannerMoved && stored === 0 && droppedBytes === 0),
    ...counted('whose message came before', ({ stored, droppedBytes, scannerMoved }) => !scannerMoved && stored === 0 && droppedBytes > 0),
    ...counted('whose answer was not seen lost', ({ stored, scannerMoved }) => !scannerMoved && stored > 0),
  ];
  return unproven.length === 0 ? '' : `; ${String(unproven.length)} ${unproven.length === 1 ? 'try' : 'tries'} proved nothing: ${reasons.join(', ')}`;
}

/** The gateway produces again: the next strike would otherwise meet its reconnect and not a produce. */
async function producesAgain(targets: Targets, clock: FaultClock, signal: AbortSignal): Promise<void> {
  const end = await targets.witness.ordersTopicEnd();
  await until(clock, STRIKE_BOUND_MS, 10, async () => (await targets.witness.ordersTopicEnd()) > end, signal);
}

export const loseProduceAck = defineFault({
  name: 'lose-produce-ack',
  description: 'the answers of n produce calls of the gateway are dropped after the broker has stored the messages',
  example: 'lose-produce-ack@t=3s,n=20,mode=close',
  schema: z.strictObject({
    t: startTime,
    n: wholeNumber(1, 10_000).default(1),
    mode: z.enum(['close', 'hang'], { error: 'is close or hang' }).default('close'),
    gap: durationMs('ms').default(50),
  }),
  startsAfterMs: (options) => options.t,
  strikesAsked: (options) => options.n,
  holds: (options) => [holdsLink('gateway-kafka', { t: options.t })],
  predict: (options) => `${String(options.n)} times: the broker appends to the orders topic while the toxic is armed, and bytes from the broker enter the gateway's proxy and never leave it`,
  begin: (options, surroundings) => {
    const { id, targets, clock } = surroundings;
    const link = targets.link('gateway-kafka');
    const toxic = toxicOf(id, options.mode);
    const strikes: Strike[] = [];
    const proven = () => strikes.filter(proves);
    return {
      async inject(signal) {
        const mayTry = (): boolean =>
          strikes.filter(({ stored, droppedBytes }) => stored === 0 && droppedBytes === 0).length < options.n * IDLE_TRIES_PER_STRIKE && strikes.length < options.n * SPOILED_TRIES_PER_STRIKE;
        while (proven().length < options.n && mayTry() && !signal.aborted) {
          const strike = await strikeOnce(link, toxic, options.mode, surroundings, signal);
          strikes.push(strike);
          if (proven().length === options.n) return;
          await clock.wait(options.gap, signal);
          // After a strike that met no produce there is nothing that has to recover.
          if (strike.stored > 0) await producesAgain(targets, clock, signal);
        }
      },
      async heal() {
        await link.removeToxic(toxic.name);
        const left = await link.listToxics();
        const answers = await until(clock, 10_000, 50, () => targets.witness.answers('kafka'));
        return { healed: !left.includes(toxic.name) && answers, observed: `toxics left on gateway-kafka: ${left.join(' ') || 'none'}; kafka ${answers ? 'answers' : 'DOES NOT ANSWER'}` };
      },
      prove() {
        const good = proven();
        const stored = good.reduce((sum, strike) => sum + strike.stored, 0);
        const dropped = good.reduce((sum, strike) => sum + strike.droppedBytes, 0);
        return Promise.resolve({
          landed: good.length >= options.n,
          observed: `${String(good.length)} of ${String(options.n)} strikes: ${String(stored)} messages stored while armed, ${String(dropped)} B of answers dropped${unprovenInWords(strikes)}`,
          strikes: good.length,
          hits: [],
          mayLose: null,
          unheardMessages: stored,
        });
      },
    };
  },
});

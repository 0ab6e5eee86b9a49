/**
 * Role `undertaker`: reads the dead-letter topic, keeps each letter once, and ends the reservation that it was about, so that nobody waits for an
 * order that will not come and no unit is lost with it (paper `000` §7.4, CASES C22). What it cannot end stays OPEN for a human to see
 * (`seckill-lab dlq list`) and to send again.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { DeadLetterCause, deadLetterId, parseDeadLetter, type DeadLetter } from '../../domain/dead-letter.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { BatchInterrupted, withHeartbeats } from '../fulfilment/with-heartbeats.js';
import type { BatchContext, LogConsumer, ReceivedMessage } from '../order-log/order-log-port.js';
import type { RoleMetrics } from '../role-metrics.js';
import type { RoleSurroundings, RunningRole } from '../role.js';
import type { StockPort } from '../stock/stock-port.js';
import { CLASS_OF, endingFor, reservationOf, type Ending } from './dead-letter-ending.js';
import { letterOf } from './dead-letter-sender.js';
import type { DeadLetterStore, KeepOutcome } from './dead-letter-store.js';

export interface UndertakerDependencies {
  readonly stock: StockPort;
  /** Subscribed to the dead-letter topic with the undertaker's group. */
  readonly consumer: LogConsumer;
  readonly store: DeadLetterStore;
  readonly metrics: RoleMetrics;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
const WATCH_INTERVAL_MS = 2_000;
/** A reservation that PostgreSQL answers for and never ends: after so many times `deadLetterAttempts`, about half a minute, its letter is kept without its end. */
const STUCK_FACTOR = 7;

/** Joins the group and runs until `stop()` or until the consumer dies. Takes ownership of its dependencies and closes them. */
export async function startUndertaker({ stock, consumer, store, metrics }: UndertakerDependencies, config: RoleConfig, surroundings: RoleSurroundings): Promise<RunningRole> {
  const work: Work = { stock, store, metrics, config, surroundings };
  const open = metrics.gauge('dead_letters_open', 'Dead letters that nobody has worked off');
  const oldest = metrics.gauge('dead_letter_oldest_open_age_seconds', 'Age of the oldest of them');
  const watch = setInterval(() => {
    void store.open().then((figures) => {
      if (figures === null) return;
      open.set(figures.count);
      oldest.set(figures.oldestSeconds);
    });
  }, WATCH_INTERVAL_MS);
  watch.unref();

  await consumer.run(async (records, context) => {
    for (const record of records) await lay(record, context, work);
  }, () => undefined);
  return {
    fatal: consumer.fatal,
    async health() {
      const [redis, postgres] = await Promise.all([stock.ready(), store.ready()]);
      return [
        ...(consumer.ready() ? [] : ['not in its consumer group']),
        ...(redis ? [] : ['Redis does not answer as primary']),
        ...(postgres ? [] : ['PostgreSQL does not answer']),
      ];
    },
    async stop() {
      clearInterval(watch);
      await consumer.stop();
      await Promise.all([stock.close(), store.close()]);
    },
  };
}

interface Work extends Omit<UndertakerDependencies, 'consumer'> {
  readonly config: RoleConfig;
  readonly surroundings: RoleSurroundings;
}

/** Resolves when the letter is kept. While Redis or PostgreSQL is away it waits; nothing is guessed. One that cannot be ended does not stop those behind it. */
async function lay(record: ReceivedMessage, context: BatchContext, work: Work): Promise<void> {
  const { letter, bytes } = read(record, work);
  let contests = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (!context.isRunning()) throw new BatchInterrupted('stopped with a dead letter in hand; it comes again');
    const isStuck = contests >= work.config.tuning.deadLetterAttempts * STUCK_FACTOR;
    const end = await withHeartbeats(isStuck ? work.store.keep(letter, bytes, null) : tryToLay(letter, bytes, work), context);
    if (end.outcome !== 'unavailable') {
      note(letter, end, work);
      return;
    }
    if (end.answered === true) contests += 1;
    work.surroundings.log('warn', 'a dead letter is not kept yet', { deadLetterId: deadLetterId(letter), reason: end.reason });
    await withHeartbeats(delay(pauseMs), context);
  }
}

function read(record: ReceivedMessage, { config, surroundings }: Work): { readonly letter: DeadLetter; readonly bytes: Buffer } {
  const bytes = record.raw?.value ?? Buffer.from(record.value);
  const parsed = parseDeadLetter(record.value);
  if (parsed.ok) return { letter: parsed.letter, bytes };
  // Not a letter of ours: kept all the same, as what it is. It never becomes a dead letter of its own, which would come here again.
  const nowMs = surroundings.clock.nowMs();
  const failure = { cause: DeadLetterCause.MALFORMED, detail: `no dead letter: ${parsed.problems.join('; ')}`, attempts: 1, firstSeenAtMs: nowMs };
  return { letter: { ...letterOf(record, failure, config.namespace.deadLettersGroup, nowMs), messageId: null, reservationId: null }, bytes };
}

async function tryToLay(letter: DeadLetter, bytes: Buffer, work: Work): Promise<KeepOutcome> {
  const ending = await findEnding(letter, work);
  if (ending === 'unavailable') return { outcome: 'unavailable', reason: 'Redis did not say whether it knows the reservation' };
  const kept = await work.store.keep(letter, bytes, ending);
  if (kept.outcome !== 'refused' || ending === null) return kept;
  // The database refuses even the end of this reservation: the letter is kept for a human, and the unit stays held.
  work.surroundings.log('error', 'the reservation of a dead letter cannot be ended', { deadLetterId: deadLetterId(letter), reservationId: letter.reservationId, reason: kept.reason });
  return work.store.keep(letter, bytes, null);
}

async function findEnding(letter: DeadLetter, { stock, config }: Work): Promise<Ending | null | 'unavailable'> {
  const place = reservationOf(letter, config.namespace);
  if (place === null) return null;
  const found = await stock.lookup(place.sku, place.requestId);
  return found.outcome === 'done' ? endingFor(letter, place.sku, found.record) : 'unavailable';
}

function note(letter: DeadLetter, end: Exclude<KeepOutcome, { outcome: 'unavailable' }>, { metrics, surroundings }: Work): void {
  const result = end.outcome === 'kept' ? (end.resolution ?? 'OPEN') : end.outcome;
  metrics.counter('dead_letters_total', 'Dead letters read, by class and by what became of them', { class: CLASS_OF[letter.cause], result }).add();
  const level = result === 'OPEN' || result === 'MANUAL_REQUIRED' || result === 'refused' ? 'error' : 'info';
  surroundings.log(level, 'dead letter laid to rest', {
    deadLetterId: deadLetterId(letter), class: CLASS_OF[letter.cause], result, reservationId: letter.reservationId, messageId: letter.messageId,
    ...(result === 'MANUAL_REQUIRED' ? { alert: 'MANUAL_REQUIRED' } : {}),
  });
}

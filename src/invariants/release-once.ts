/**
 * release-once: the unit of a reservation comes back once, whatever is repeated: one RELEASE entry in the ledger, one end of its row, one parting of its token,
 * one event that tells Redis to give the unit back, and in Redis no unit of a reservation that still holds one.
 *
 * The commit log is looked through as well: a second release that a later allocation hid would leave a clean end.
 */
import type { Facts } from '../facts/facts.js';
import type { RowChange } from '../facts/store-facts.js';
import { visibleChanges } from './commit-history.js';
import { grouped, kafkaOf, postgresOf, redisOf } from './indexes.js';
import type { Invariant } from './invariant.js';
import { unitIsBack } from './reservation-end.js';
import { tallyFor, type Tally } from './tally.js';

const RELEASE = 20;
const RELEASED = 40;

export const releaseOnce: Invariant = {
  name: 'release-once',
  title: 'Each unit comes back once',
  whatItMeans: 'However often a cancellation, an expiry or a compensation is repeated, a reservation gives its unit back at most once, in the ledger and in Redis.',
  needs: ['history', 'redis', 'kafka', 'postgres', 'commitLog'],
  comparesStores: true,
  judge(facts) {
    const tally = tallyFor(releaseOnce, facts);
    // What was never released has been looked at as well: a run in which no unit came back has been judged, not skipped.
    tally.check(postgresOf(facts).reservations.length);
    for (const [reservationId, releases] of releasesOf(facts)) {
      tally.check();
      for (const what of Object.keys(WORDS) as (keyof Releases)[]) {
        const count = releases[what];
        if (count > 1) violate(tally, reservationId, count, `was released ${String(count)} times: ${WORDS[what]}`);
      }
    }
    inRedis(facts, tally);
    return tally.verdict();
  },
};

type Releases = Record<'entries' | 'committedEntries' | 'ends' | 'partings' | 'events', number>;

const WORDS: Readonly<Record<keyof Releases, string>> = {
  entries: 'so many RELEASE entries are in the ledger',
  committedEntries: 'so many RELEASE entries were committed',
  ends: 'so often its row became RELEASED',
  partings: 'so often a token was taken from it',
  events: 'so many events tell Redis to give its unit back',
};

function violate(tally: Tally, reservationId: string, severity: number, claim: string): void {
  tally.violation({ kind: 'reservation', id: reservationId, severity, subject: { reservationId }, claim: `Reservation ${reservationId} ${claim}.` });
}

function releasesOf(facts: Facts): ReadonlyMap<string, Releases> {
  const found = new Map<string, Releases>();
  const count = (reservationId: string, what: keyof Releases, by = 1): void => {
    const releases = found.get(reservationId) ?? { entries: 0, committedEntries: 0, ends: 0, partings: 0, events: 0 };
    found.set(reservationId, releases);
    releases[what] += by;
  };
  for (const entry of postgresOf(facts).ledger) if (entry.type === RELEASE) count(entry.reservationId, 'entries');
  // The same event delivered twice is one event: whoever reads it knows it by its id.
  const returning = kafkaOf(facts).events.filter((event) => event.returnsUnit);
  for (const [, copies] of grouped(returning, (event) => event.eventId)) count(copies[0]?.reservationId ?? '', 'events');
  committed(facts, count);
  return found;
}

function committed(facts: Facts, count: (reservationId: string, what: keyof Releases) => void): void {
  if (!facts.commitLog.present) return;
  const statusOf = new Map<string, number>();
  const holderOf = new Map<string, string>();
  for (const transaction of facts.commitLog.value.transactions) {
    for (const change of visibleChanges(transaction)) {
      const text = (column: string): string => change.row[column] ?? '';
      if (change.table === 'inventory_ledger' && change.kind === 'insert' && text('ledger_type') === String(RELEASE)) count(text('reservation_id'), 'committedEntries');
      if (change.table === 'inventory_reservation' && change.kind !== 'delete') {
        const [id, status] = [text('reservation_id'), Number(text('status'))];
        if (status === RELEASED && statusOf.get(id) !== RELEASED) count(id, 'ends');
        statusOf.set(id, status);
      }
      if (change.table === 'inventory_token') parting(change, holderOf, (reservationId) => { count(reservationId, 'partings'); });
    }
  }
}

function parting(change: RowChange, holderOf: Map<string, string>, parted: (reservationId: string) => void): void {
  const tokenId = change.row['token_id'] ?? '';
  const before = holderOf.get(tokenId);
  const now = change.kind === 'delete' ? null : (change.row['reservation_id'] ?? null);
  if (before !== undefined && before !== now) parted(before);
  if (now === null) holderOf.delete(tokenId);
  else holderOf.set(tokenId, now);
}

/** After a proven loss the records are those of a rebuild, which knows by durable facts what was given back. */
function inRedis(facts: Facts, tally: Tally): void {
  if (!facts.redis.present || !facts.postgres.present) return;
  for (const record of redisOf(facts).records) {
    if (!record.unitReturned) continue;
    tally.check();
    if (!unitIsBack(facts, record.reservationId)) violate(tally, record.reservationId, 1, 'gave its unit back in Redis, and no durable fact released it');
  }
}

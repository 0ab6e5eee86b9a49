/**
 * ledger-balanced: the entries of each account sum to its change and chain without a gap; every reservation with an order has exactly one
 * ALLOCATE, one SOLD if it was paid, one RELEASE if its unit went back on sale, and no other has any.
 *
 * An account is a bucket (`row`) or a single token (`token`, which goes 0 → 1 and back, DESIGN §4). The order of entries is not trusted, ids
 * are made before the commit: the chain is checked as a path, where every value is left as often as it is entered, but for the two ends.
 */
import type { Facts } from '../facts/facts.js';
import type { LedgerRow } from '../facts/store-facts.js';
import { grouped, ordersByReservation, postgresOf, reservationRows } from './indexes.js';
import type { Invariant } from './invariant.js';
import { orderHoldsUnit, ORDER_STATES, orderWasPaid, stateName } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';

const ALLOCATE = 10;
const RELEASE = 20;
const SOLD = 30;
const ADJUST = 40;
/** Change of `available` that each type of entry makes; ADJUST may be anything. */
const DELTA_OF_TYPE: Readonly<Record<number, number>> = { [ALLOCATE]: -1, [RELEASE]: 1, [SOLD]: 0 };

export const ledgerBalanced: Invariant = {
  name: 'ledger-balanced',
  title: 'The books balance',
  whatItMeans: 'Every movement of stock has its ledger entry, exactly once, and the entries of each account add up to what the account shows.',
  needs: ['history', 'postgres'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(ledgerBalanced, facts);
    if (facts.postgres.present) {
      eachEntry(facts, tally);
      eachReservation(facts, tally);
      eachAccount(facts, tally);
    }
    return tally.verdict();
  },
};

function entryProblem(entry: LedgerRow): string | null {
  if (entry.availableDelta + entry.allocatedDelta !== 0) return 'moves a different number out of one side than into the other';
  if (entry.beforeAvailable + entry.availableDelta !== entry.afterAvailable || entry.beforeAllocated + entry.allocatedDelta !== entry.afterAllocated) return 'does not add up in itself';
  if (entry.afterAvailable < 0 || entry.afterAllocated < 0) return 'ends below zero';
  const expected = DELTA_OF_TYPE[entry.type];
  if (expected === undefined) return entry.type === ADJUST ? null : `has the unknown type ${String(entry.type)}`;
  return entry.availableDelta === expected ? null : `changes available by ${String(entry.availableDelta)}, its type says ${String(expected)}`;
}

function eachEntry(facts: Facts, tally: Tally): void {
  const { ledger } = postgresOf(facts);
  for (const entry of ledger) {
    tally.check();
    const problem = entryProblem(entry);
    if (problem !== null) violate(tally, entry, `Ledger entry ${entry.idempotencyKey} ${problem}.`);
  }
  for (const [key, entries] of grouped(ledger, (entry) => entry.idempotencyKey)) {
    const second = entries[1];
    if (second !== undefined) violate(tally, second, `Ledger key ${key} occurs ${String(entries.length)} times.`);
  }
}

function violate(tally: Tally, entry: LedgerRow, claim: string): void {
  tally.violation({ kind: 'ledger', id: entry.ledgerId, subject: { reservationId: entry.reservationId, orderId: entry.orderId }, claim });
}

function eachReservation(facts: Facts, tally: Tally): void {
  const orders = ordersByReservation(facts);
  const entriesOf = grouped(postgresOf(facts).ledger, (entry) => entry.reservationId);
  for (const reservationId of new Set([...orders.keys(), ...entriesOf.keys()])) {
    tally.check();
    const order = orders.get(reservationId)?.[0];
    const entries = entriesOf.get(reservationId) ?? [];
    const count = (type: number): number => entries.filter((entry) => entry.type === type).length;
    const violated = (claim: string): void => {
      tally.violation({ kind: 'reservation', id: reservationId, severity: Math.max(1, entries.length), subject: { reservationId }, claim });
    };
    if (order === undefined) {
      if (count(ALLOCATE) + count(RELEASE) + count(SOLD) > 0) violated(`Reservation ${reservationId} has ${String(entries.length)} ledger entries and no order.`);
      continue;
    }
    if (count(ALLOCATE) !== 1) violated(`Reservation ${reservationId} has ${String(count(ALLOCATE))} ALLOCATE entries, exactly one is right.`);
    if (count(RELEASE) > 1) violated(`Reservation ${reservationId} was released ${String(count(RELEASE))} times.`);
    if (count(RELEASE) === 1 && orderHoldsUnit(order.status)) violated(`Order ${order.orderId} is live and its unit was released.`);
    const row = reservationRows(facts).get(reservationId)?.[0];
    if (count(RELEASE) === 0 && row?.status === 40 && facts.run.rules.restockOnCancel) violated(`Reservation ${reservationId} is RELEASED without a RELEASE entry.`);
    // A withdrawn unit becomes available to nobody, so nothing is entered.
    if (count(RELEASE) > 0 && !facts.run.rules.restockOnCancel) violated(`Reservation ${reservationId} has a RELEASE entry, and the activity does not put units back on sale.`);
    if (count(SOLD) !== (orderWasPaid(order.status) ? 1 : 0)) violated(`Order ${order.orderId} is ${stateName(ORDER_STATES, order.status)} and has ${String(count(SOLD))} SOLD entries.`);
    const other = entries.find((entry) => entry.type !== ADJUST && entry.inventoryTokenId !== order.inventoryTokenId);
    if (other !== undefined) violated(`Ledger entry ${other.idempotencyKey} moves token ${other.inventoryTokenId ?? 'none'}, order ${order.orderId} has ${order.inventoryTokenId ?? 'none'}.`);
    const foreign = entries.find((entry) => entry.orderId !== null && entry.orderId !== order.orderId);
    if (foreign !== undefined) violated(`Ledger entry ${foreign.idempotencyKey} names order ${String(foreign.orderId)}, the reservation has ${order.orderId}.`);
  }
}

function eachAccount(facts: Facts, tally: Tally): void {
  const { ledger, tokens, inventory } = postgresOf(facts);
  if (facts.run.strategies.allocator === 'row') {
    const entriesOf = grouped(ledger, (entry) => entry.bucketNo);
    const known = new Set(inventory.map((row) => row.bucketNo));
    for (const row of inventory) account(tally, `bucket ${String(row.bucketNo)}`, entriesOf.get(row.bucketNo) ?? [], row.total, row.available, row.allocated);
    for (const [bucketNo, entries] of entriesOf) if (!known.has(bucketNo) && entries[0] !== undefined) violate(tally, entries[0], `There is no bucket ${String(bucketNo)}.`);
    return;
  }
  const entriesOf = grouped(ledger, (entry) => entry.inventoryTokenId);
  const known = new Set(tokens.map((token) => token.tokenId));
  for (const token of tokens) {
    const entries = entriesOf.get(token.tokenId) ?? [];
    const held = token.status === 10 || token.status === 20;
    // A unit withdrawn after it was taken stays where its last entry put it.
    const taken = held || (token.status === 30 && entries.length > 0);
    account(tally, `token ${token.tokenId}`, entries, 1, taken ? 0 : 1, taken ? 1 : 0);
    const last = token.reservationId;
    if (held && !entries.some((entry) => entry.type === ALLOCATE && entry.reservationId === last) && entries[0] !== undefined) {
      violate(tally, entries[0], `Token ${token.tokenId} is taken by ${String(last)}, and the ledger allocates it to others only.`);
    }
  }
  for (const [tokenId, entries] of entriesOf) {
    if ((tokenId === null || !known.has(tokenId)) && entries[0] !== undefined && entries[0].type !== ADJUST) {
      violate(tally, entries[0], `Ledger entry ${entries[0].idempotencyKey} names ${tokenId === null ? 'no token' : `token ${tokenId}, which does not exist`}.`);
    }
  }
}

/** Sums and chain of one account that began with `total` available and nothing allocated. */
function account(tally: Tally, name: string, entries: readonly LedgerRow[], total: number, available: number, allocated: number): void {
  tally.check();
  const violated = (claim: string, severity: number): void => {
    tally.violation({ kind: 'account', id: name, severity, subject: { reservationId: entries.at(-1)?.reservationId ?? null }, claim });
  };
  const availableSum = entries.reduce((sum, entry) => sum + entry.availableDelta, 0);
  const allocatedSum = entries.reduce((sum, entry) => sum + entry.allocatedDelta, 0);
  if (total + availableSum !== available || allocatedSum !== allocated) {
    violated(`The entries of ${name} lead to ${String(total + availableSum)} available and ${String(allocatedSum)} allocated, it shows ${String(available)} and ${String(allocated)}.`, Math.abs(allocatedSum - allocated));
    return;
  }
  const broken = brokenValue(entries, `${String(total)}/0`, `${String(available)}/${String(allocated)}`);
  if (broken !== null) violated(`The entries of ${name} do not chain: the value ${broken} is not entered as often as it is left.`, 1);
}

/** Where the entries cannot be one path from `start` to `end`; null when they can. Values are `available/allocated`. */
function brokenValue(entries: readonly LedgerRow[], start: string, end: string): string | null {
  const balance = new Map<string, number>();
  const add = (value: string, by: number): void => {
    balance.set(value, (balance.get(value) ?? 0) + by);
  };
  add(start, -1);
  add(end, 1);
  for (const entry of entries) {
    add(`${String(entry.beforeAvailable)}/${String(entry.beforeAllocated)}`, 1);
    add(`${String(entry.afterAvailable)}/${String(entry.afterAllocated)}`, -1);
  }
  for (const [value, left] of balance) if (left !== 0) return value;
  return null;
}

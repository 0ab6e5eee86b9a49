/**
 * stock-conservation: available + held + paid + withdrawn = total, for the accounts of the run's allocator, at every commit and at the end.
 *
 * `token`: every unit is a row of its own, and a taken token belongs to exactly one reservation that holds. The row of `sku_inventory` is a summary then
 * and stays out of the hot path (paper `000` §6.7), so of it only the planned total is judged. `row`: the buckets of `sku_inventory` count, tokens do not exist.
 */
import type { Facts } from '../facts/facts.js';
import type { CommittedTransaction } from '../facts/store-facts.js';
import { postgresOf } from './indexes.js';
import type { Invariant } from './invariant.js';
import { withdrawnReservations } from './reservation-end.js';
import { tallyFor, type Tally } from './tally.js';
import { heldBySnapshot, replayUnits, reservationIn, type Bucket, type Units } from './units-replay.js';

export const stockConservation: Invariant = {
  name: 'stock-conservation',
  title: 'Every unit is accounted for',
  whatItMeans: 'At every commit the units that are available, held and paid add up to the stock: none appears and none vanishes.',
  needs: ['history', 'postgres', 'commitLog'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(stockConservation, facts);
    if (facts.run.strategies.allocator === 'token') judgeTokens(facts, tally);
    else judgeBuckets(facts, tally);
    return tally.verdict();
  },
};

function judgeTokens(facts: Facts, tally: Tally): void {
  const report = changesOf(tally);
  replayUnits(facts, (units, transaction) => {
    const [taken, held] = [units.takenTokens.size, units.held.size];
    report(transaction, taken - held, taken === held ? null : `${String(taken)} tokens are taken while ${String(held)} units are held`);
  });
  if (!facts.postgres.present) return;
  const { tokens } = postgresOf(facts);
  const count = (status: number): number => tokens.filter((token) => token.status === status).length;
  const held = heldBySnapshot(facts);
  const [available, claimed, sold, withdrawn] = [count(0), count(10), count(20), count(30)];
  tally.check(tokens.length + 1);
  const leaving = withdrawnReservations(facts).size;
  if (available + held.size + withdrawn !== facts.run.stock || tokens.length !== facts.run.stock || claimed + sold !== held.size || withdrawn !== leaving) {
    tally.violation({
      kind: 'account', id: 'tokens', severity: Math.abs(available + held.size + withdrawn - facts.run.stock), subject: {},
      claim: `${String(tokens.length)} tokens, ${String(available)} available, ${String(claimed)} claimed, ${String(sold)} sold, ${String(withdrawn)} withdrawn, ${String(leaving)} by the rules of the activity; ${String(held.size)} units held; stock ${String(facts.run.stock)}.`,
    });
  }
  const planned = postgresOf(facts).inventory.reduce((sum, row) => sum + row.total, 0);
  if (planned !== facts.run.stock) {
    tally.violation({ kind: 'account', id: 'sku_inventory', severity: Math.abs(planned - facts.run.stock), subject: {}, claim: `The accounts of the SKU plan ${String(planned)} units, the stock is ${String(facts.run.stock)}.` });
  }
  ownersOfTokens(facts, held, tally);
}

/** Sums that agree can hide a swap: each taken token names a reservation that holds, and each live order its own token. */
function ownersOfTokens(facts: Facts, held: ReadonlySet<string>, tally: Tally): void {
  const { tokens, orders } = postgresOf(facts);
  const ownerOf = new Map<string, string>();
  const tokenOf = new Map<string, string>();
  for (const token of tokens) {
    if (token.status !== 10 && token.status !== 20) continue;
    const owner = token.reservationId;
    const other = owner === null ? undefined : tokenOf.get(owner);
    if (owner === null || !held.has(owner) || other !== undefined) {
      tally.violation({
        kind: 'token', id: token.tokenId, subject: { tokenId: token.tokenId, reservationId: owner },
        claim: other === undefined
          ? `Token ${token.tokenId} is taken by ${owner ?? 'nobody'}, which holds no unit.`
          : `Reservation ${String(owner)} has taken two tokens: ${other} and ${token.tokenId}.`,
      });
      continue;
    }
    ownerOf.set(token.tokenId, owner);
    tokenOf.set(owner, token.tokenId);
  }
  for (const order of orders) {
    tally.check();
    if (!held.has(order.reservationId)) continue;
    const tokenId = order.inventoryTokenId;
    if (tokenId !== null && ownerOf.get(tokenId) === order.reservationId) continue;
    tally.violation({
      kind: 'order', id: order.orderId, subject: { orderId: order.orderId, reservationId: order.reservationId },
      claim: `Order ${order.orderId} names token ${tokenId ?? 'none'}, which ${tokenId === null ? 'is no token' : `is held by ${ownerOf.get(tokenId) ?? 'nobody'}`}.`,
    });
  }
}

function judgeBuckets(facts: Facts, tally: Tally): void {
  const { inventory } = postgresOf(facts);
  const totals = new Map(inventory.map((row) => [String(row.bucketNo), row.total]));
  const restock = facts.run.rules.restockOnCancel;
  const compare = (units: Pick<Units, 'held' | 'released'>, allocated: number): string | null => {
    // Without restocking a released unit leaves the sale and stays allocated for good.
    const withdrawn = restock ? 0 : units.released.size;
    if (allocated === units.held.size + withdrawn) return null;
    return `${String(allocated)} units are allocated while ${String(units.held.size)} are held${withdrawn === 0 ? '' : ` and ${String(withdrawn)} withdrawn`}`;
  };
  const report = changesOf(tally);
  replayUnits(facts, (units, transaction) => {
    let allocated = 0;
    for (const bucket of units.buckets.values()) allocated += bucket.allocated;
    const broken = [...units.buckets].flatMap(([bucketNo, bucket]) => bucketProblem(bucketNo, bucket, totals.get(bucketNo) ?? null) ?? [])[0];
    report(transaction, allocated - units.held.size - (restock ? 0 : units.released.size), broken ?? compare(units, allocated));
  });
  if (!facts.postgres.present) return;
  const held = heldBySnapshot(facts);
  const released = withdrawnReservations(facts);
  const total = inventory.reduce((sum, row) => sum + row.total, 0);
  const allocated = inventory.reduce((sum, row) => sum + row.allocated, 0);
  tally.check(inventory.length + 1);
  const wrong = [
    ...inventory.flatMap((row) => bucketProblem(String(row.bucketNo), row, null) ?? []),
    ...(total === facts.run.stock ? [] : [`the buckets total ${String(total)}, the stock is ${String(facts.run.stock)}`]),
    ...[compare({ held, released }, allocated)].flatMap((text) => text ?? []),
  ];
  for (const text of wrong) tally.violation({ kind: 'account', id: 'sku_inventory', severity: Math.abs(allocated - held.size), subject: {}, claim: `At the end ${text}.` });
}

function bucketProblem(bucketNo: string, bucket: Bucket, total: number | null): string | null {
  if (bucket.available + bucket.allocated !== bucket.total || bucket.available < 0 || bucket.allocated < 0) {
    return `bucket ${bucketNo} has ${String(bucket.available)} available and ${String(bucket.allocated)} allocated of ${String(bucket.total)}`;
  }
  return total !== null && bucket.total !== total ? `the total of bucket ${bucketNo} changed to ${String(bucket.total)}` : null;
}

/** A sum that went wrong stays wrong for all later commits: only the commit that changed the difference is a violation of its own. */
function changesOf(tally: Tally): (transaction: CommittedTransaction, difference: number, wrong: string | null) => void {
  let before: number | null = null;
  return (transaction, difference, wrong) => {
    tally.check();
    const changed = before !== difference;
    before = wrong === null ? null : difference;
    if (wrong === null || !changed) return;
    tally.violation({
      kind: 'commit', id: transaction.lsn, severity: Math.abs(difference), subject: { reservationId: reservationIn(transaction) },
      claim: `After commit ${transaction.lsn} ${wrong}.`,
    });
  };
}

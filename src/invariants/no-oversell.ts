/**
 * no-oversell: at no commit, and not at the end, more units held than stock; and no more winners told than units there were.
 *
 * The end alone proves little: an oversell that a cancellation repairs leaves a clean database and an angry customer.
 */
import type { Facts } from '../facts/facts.js';
import { acceptancesByReservation } from './acceptances.js';
import { isExcused } from './excuses.js';
import { grouped, postgresOf } from './indexes.js';
import { inShort } from './in-short.js';
import type { Invariant } from './invariant.js';
import { endOfReservation, unitIsBack } from './reservation-end.js';
import { orderHoldsUnit } from './state-tables.js';
import { tallyFor, type Tally } from './tally.js';
import { heldBySnapshot, replayUnits, reservationIn } from './units-replay.js';

export const noOversell: Invariant = {
  name: 'no-oversell',
  title: 'Nothing is sold twice',
  whatItMeans: 'At no moment do more reservations and paid orders hold a unit than there is stock, and no more clients are told they won than units exist.',
  needs: ['history', 'postgres', 'commitLog'],
  comparesStores: false,
  judge(facts) {
    const tally = tallyFor(noOversell, facts);
    overCommits(facts, tally);
    atTheEnd(facts, tally);
    winnersTold(facts, tally);
    return tally.verdict();
  },
};

function overCommits(facts: Facts, tally: Tally): void {
  const { stock } = facts.run;
  let over = false;
  replayUnits(facts, (units, transaction) => {
    tally.check();
    const taken = Math.max(units.held.size, units.takenTokens.size);
    // One oversell that lasts for a thousand commits is one oversell: counted at the commits where it grows or begins.
    if (taken > stock && (!over || transaction.changes.some((change) => change.kind === 'insert' && change.table === 'orders'))) {
      tally.violation({
        kind: 'commit', id: transaction.lsn, severity: taken - stock, subject: { reservationId: reservationIn(transaction) },
        claim: `After commit ${transaction.lsn} ${String(taken)} units are held, the stock is ${String(stock)}.`,
      });
    }
    over = taken > stock;
  });
}

function atTheEnd(facts: Facts, tally: Tally): void {
  const { stock } = facts.run;
  const { tokens, inventory, orders } = postgresOf(facts);
  const held = heldBySnapshot(facts);
  tally.check();
  if (held.size > stock) {
    const extra = [...held][stock] ?? null;
    tally.violation({
      kind: 'reservation', id: extra ?? 'none', severity: held.size - stock, subject: { reservationId: extra },
      claim: `At the end ${String(held.size)} units are held, the stock is ${String(stock)}.`,
    });
  }
  const taken = tokens.filter((token) => token.status === 10 || token.status === 20).length;
  if (taken > stock) {
    tally.violation({ kind: 'account', id: 'tokens', severity: taken - stock, subject: {}, claim: `${String(taken)} tokens are taken, the stock is ${String(stock)}.` });
  }
  for (const row of inventory) {
    tally.check();
    if (row.available >= 0 && row.allocated <= row.total) continue;
    tally.violation({
      kind: 'account', id: `bucket ${String(row.bucketNo)}`, severity: row.allocated - row.total, subject: {},
      claim: `Bucket ${String(row.bucketNo)} has ${String(row.allocated)} of ${String(row.total)} allocated and ${String(row.available)} available.`,
    });
  }
  const live = orders.filter((order) => orderHoldsUnit(order.status) && order.inventoryTokenId !== null);
  for (const [tokenId, sharing] of grouped(live, (order) => order.inventoryTokenId)) {
    if (sharing.length < 2) continue;
    tally.violation({
      kind: 'token', id: tokenId ?? 'none', severity: sharing.length - 1, subject: { tokenId, orderId: sharing[1]?.orderId ?? null },
      claim: `Token ${String(tokenId)} is one unit and stands in ${String(sharing.length)} live orders: ${inShort(sharing.map((order) => order.orderId), 3)}.`,
    });
  }
}

/** A reservation that was told and whose unit is not back on sale holds it for its client, or has taken it out of the sale, whatever the stores think of it. */
function winnersTold(facts: Facts, tally: Tally): void {
  const { stock } = facts.run;
  const still: string[] = [];
  for (const [reservationId, told] of acceptancesByReservation(facts)) {
    tally.check();
    if (unitIsBack(facts, reservationId)) continue;
    if (endOfReservation(facts, reservationId).end === 'none' && isExcused(facts, reservationId, told)) tally.excuse();
    else still.push(reservationId);
  }
  if (still.length <= stock || !facts.postgres.present) return;
  const extra = still[stock] ?? null;
  tally.violation({
    kind: 'reservation', id: extra ?? 'none', severity: still.length - stock, subject: { reservationId: extra },
    claim: `${String(still.length)} reservations were told to clients and have not given their unit back, the stock is ${String(stock)}.`,
  });
}

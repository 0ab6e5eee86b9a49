/** Accounts and states that do not add up: one wrong thing at a time is put into a right world, and the judge named here has to catch it. */
import { describe, expect, it } from 'vitest';
import { cancelledOrder, changesOf, drop, ELSEWHERE, found, LIVES, lossProven, missedIn, nth, openOrder, REFUSED, ROW, twoOpenOrders, type BrokenWorld } from './broken-world.test-support.js';

const CASES: readonly BrokenWorld[] = [
  { wrong: 'a token missing', judge: 'stock-conservation', claim: /9 tokens/, edit: (draft) => { draft.postgres.tokens.pop(); } },
  { wrong: 'a token claimed by nobody', judge: 'stock-conservation', edit: (draft) => { found(draft.postgres.tokens, (token) => token.status === 10).reservationId = null; } },
  { wrong: 'two tokens swapped between orders', judge: 'stock-conservation', claim: /is held by/, edit: (draft) => {
    const [first, second] = twoOpenOrders(draft);
    [first.inventoryTokenId, second.inventoryTokenId] = [second.inventoryTokenId, first.inventoryTokenId];
  } },
  { wrong: 'a token claimed without a reservation at one commit', judge: 'stock-conservation', claim: /^After commit .* 2 tokens are taken while 1 units/, edit: (draft) => {
    nth(draft.commitLog.transactions, 0).changes.push({ table: 'inventory_token', kind: 'update', row: { token_id: '10', status: '10', reservation_id: ELSEWHERE } });
    nth(draft.commitLog.transactions, 1).changes.push({ table: 'inventory_token', kind: 'update', row: { token_id: '10', status: '0', reservation_id: null } });
  } },
  { wrong: 'a bucket that lost a unit', judge: 'stock-conservation', world: ROW, claim: /bucket 0/, edit: (draft) => { nth(draft.postgres.inventory, 0).available -= 1; } },
  { wrong: 'a bucket with a greater total', judge: 'stock-conservation', world: ROW, edit: (draft) => { nth(draft.postgres.inventory, 0).total += 1; nth(draft.postgres.inventory, 0).available += 1; } },
  { wrong: 'a bucket allocated too little at one commit', judge: 'stock-conservation', world: ROW, claim: /^After commit .* 1 units are allocated while 2/, edit: (draft) => {
    const change = nth(changesOf(draft, 'sku_inventory'), 1);
    change.row['available_stock'] = String(Number(change.row['available_stock']) + 1);
    change.row['allocated_stock'] = String(Number(change.row['allocated_stock']) - 1);
  } },
  { wrong: 'a ledger line dropped', judge: 'ledger-balanced', edit: (draft) => { draft.postgres.ledger.splice(2, 1); } },
  { wrong: 'a ledger line dropped from a row account', judge: 'ledger-balanced', world: ROW, edit: (draft) => { draft.postgres.ledger.splice(2, 1); } },
  { wrong: 'a ledger line doubled', judge: 'ledger-balanced', claim: /occurs 2 times/, edit: (draft) => { draft.postgres.ledger.push({ ...nth(draft.postgres.ledger, 0) }); } },
  { wrong: 'a second ALLOCATE under another key', judge: 'ledger-balanced', edit: (draft) => { draft.postgres.ledger.push({ ...nth(draft.postgres.ledger, 0), ledgerId: '1', idempotencyKey: 'ALLOCATE:again' }); } },
  { wrong: 'a unit released twice', judge: 'ledger-balanced', claim: /released 2 times/, edit: (draft) => {
    draft.postgres.ledger.push({ ...found(draft.postgres.ledger, (entry) => entry.type === 20), ledgerId: '1', idempotencyKey: 'RELEASE:again' });
  } },
  { wrong: 'the unit of a live order released', judge: 'ledger-balanced', edit: (draft) => { cancelledOrder(draft).status = 10; } },
  { wrong: 'a release without its entry', judge: 'ledger-balanced', edit: (draft) => { drop(draft.postgres.ledger, found(draft.postgres.ledger, (entry) => entry.type === 20)); } },
  { wrong: 'an entry of a reservation without an order', judge: 'ledger-balanced', claim: /no order/, edit: (draft) => { draft.postgres.ledger.push({ ...nth(draft.postgres.ledger, 0), ledgerId: '1', idempotencyKey: 'ALLOCATE:nobody', reservationId: ELSEWHERE, orderId: null, inventoryTokenId: '10' }); } },
  { wrong: 'an entry that does not add up', judge: 'ledger-balanced', claim: /does not add up/, edit: (draft) => { nth(draft.postgres.ledger, 0).afterAllocated += 1; } },
  { wrong: 'two entries that saw the same value before', judge: 'ledger-balanced', world: ROW, claim: /do not chain/, edit: (draft) => {
    const [first, second] = [nth(draft.postgres.ledger, 0), nth(draft.postgres.ledger, 1)];
    Object.assign(second, { beforeAvailable: first.beforeAvailable, afterAvailable: first.afterAvailable, beforeAllocated: first.beforeAllocated, afterAllocated: first.afterAllocated });
  } },
  { wrong: 'an entry on another token', judge: 'ledger-balanced', edit: (draft) => { nth(draft.postgres.ledger, 0).inventoryTokenId = '10'; } },
  { wrong: 'a unit leaked from Redis', judge: 'redis-conservation', claim: /have leaked/, edit: (draft) => { draft.redis.stock = (draft.redis.stock ?? 0) - 1; } },
  { wrong: 'a unit given back twice', judge: 'redis-conservation', claim: /given back/, edit: (draft) => { draft.redis.stock = (draft.redis.stock ?? 0) + 1; } },
  { wrong: 'the stock key gone', judge: 'redis-conservation', claim: /gone/, edit: (draft) => { draft.redis.stock = null; } },
  { wrong: 'a record that Redis has forgotten', judge: 'redis-conservation', claim: /Redis has forgotten it/, edit: (draft) => { draft.redis.records.pop(); } },
  { wrong: 'a record with the order of somebody else', judge: 'redis-conservation', claim: /Redis says 1\./, edit: (draft) => { found(draft.redis.records, (record) => record.state === 'O').orderId = '1'; } },
  { wrong: 'a leak and a double return that cancel out', judge: 'redis-conservation', claim: /still holds a unit|holds none/, edit: (draft) => {
    found(draft.redis.records, (record) => record.state === 'O').state = 'L';
    found(draft.redis.records, (record) => record.state === 'L' && record.orderId !== null).state = 'O';
    const lost = found(draft.redis.records, (record) => record.state === 'O');
    lost.state = 'L';
  } },
  { wrong: 'a rebuild that gave two orders to each other’s requests', judge: 'redis-conservation', claim: /Redis says/, edit: (draft) => {
    lossProven(draft);
    const records = draft.redis.records.filter((record) => record.state === 'O');
    const [first, second] = [nth(records, 0), nth(records, 1)];
    [first.orderId, second.orderId] = [second.orderId, first.orderId];
  } },
  { wrong: 'a rebuild that left a durable reservation out, and a unit back for it', judge: 'redis-conservation', claim: /Redis has forgotten it/, edit: (draft) => {
    lossProven(draft);
    drop(draft.redis.records, found(draft.redis.records, (record) => record.state === 'L'));
  } },
  { wrong: 'a rebuild that took a live order for one that ended', judge: 'redis-conservation', claim: /still holds a unit/, edit: (draft) => {
    lossProven(draft);
    found(draft.redis.records, (record) => record.state === 'O').state = 'L';
  } },
  { wrong: 'a rebuild that says of a live order that its unit is back', judge: 'release-once', claim: /no durable fact released it/, edit: (draft) => {
    lossProven(draft);
    found(draft.redis.records, (record) => record.state === 'O').unitReturned = true;
  } },
  { wrong: 'the mark of who cancelled and may buy again', judge: 'redis-conservation', world: LIVES, claim: /no reservation that keeps him/, edit: (draft) => {
    const marked = new Set(draft.redis.users.map(({ userId }) => userId));
    const { userId, requestId } = found(draft.postgres.orders, (order) => order.status === 40 && !marked.has(order.userId));
    draft.redis.users.push({ userId, requestId });
  } },
  { wrong: 'the mark of who was refused', judge: 'redis-conservation', world: REFUSED, claim: /no reservation that keeps him/, edit: (draft) => {
    const { userId, requestId } = found(draft.postgres.reservations, (row) => row.status === 20);
    draft.redis.users.push({ userId, requestId });
  } },
  { wrong: 'the mark of a user whom nobody knows', judge: 'redis-conservation', claim: /no reservation that keeps him/, edit: (draft) => { draft.redis.users.push({ userId: '999999', requestId: 'nobody' }); } },
  { wrong: 'a cancelled order that was paid before', judge: 'legal-state-path', claim: /went from PAID \(30\) to CANCELLED \(40\)/, edit: (draft) => {
    const order = cancelledOrder(draft);
    const at = draft.commitLog.transactions.findIndex((transaction) => transaction.changes.some((change) => change.table === 'orders' && change.row['order_id'] === order.orderId && change.kind === 'update'));
    nth(draft.commitLog.transactions, at).changes.unshift({ table: 'orders', kind: 'update', row: { order_id: order.orderId, status: '30', reservation_id: order.reservationId, user_id: order.userId } });
  } },
  { wrong: 'an order that began as paid', judge: 'legal-state-path', claim: /began as PAID/, edit: (draft) => { nth(changesOf(draft, 'orders'), 0).row['status'] = '30'; } },
  { wrong: 'an order deleted', judge: 'legal-state-path', claim: /was deleted/, edit: (draft) => { nth(draft.commitLog.transactions, -1).changes.push({ table: 'orders', kind: 'delete', row: { order_id: openOrder(draft).orderId } }); } },
  { wrong: 'a reservation ordered after it was refused', judge: 'legal-state-path', claim: /went from REJECTED \(20\) to ORDERED \(10\)/, edit: (draft) => { nth(changesOf(draft, 'inventory_reservation'), 0).row['status'] = '20'; } },
  { wrong: 'a token sold that was never claimed', judge: 'legal-state-path', claim: /went from AVAILABLE \(0\) to SOLD \(20\)/, edit: (draft) => { nth(changesOf(draft, 'inventory_token'), 0).row['status'] = '20'; } },
  { wrong: 'a state of no table', judge: 'legal-state-path', edit: (draft) => { nth(changesOf(draft, 'orders'), 0).row['status'] = '11'; } },
  { wrong: 'a live order whose reservation is released', judge: 'legal-state-path', claim: /is CREATED \(10\) while its reservation/, edit: (draft) => { found(draft.postgres.reservations, (row) => row.reservationId === openOrder(draft).reservationId).status = 40; } },
  { wrong: 'a reservation ordered without its order', judge: 'legal-state-path', claim: /does not exist/, edit: (draft) => { drop(draft.postgres.orders, openOrder(draft)); } },
];

describe('accounts and states that do not add up', () => {
  it.each(CASES.map((broken) => [broken.judge, broken.wrong, broken] as const))('%s catches: %s', (_, __, broken) => {
    expect(missedIn(broken)).toEqual([]);
  });
});

/** Rows, records and commits of a hand-written world, each written the way the right system writes it. When what happens is told in `hand-written-stores`. */
import type { RunFacts } from '../facts/facts.js';
import type {
  CommittedTransaction, CompensationRow, DeadLetterRecord, DeadLetterRow, EventLogRecord, InboxRow, KafkaFacts, LedgerRow, OrderLogRecord, OrderRow, OutboxRow,
  PaymentRow, PostgresFacts, ReservationRow, RowChange, TokenRow, UnmatchedPaymentRow,
} from '../facts/store-facts.js';

/** What rows are made from: one reservation and all its names. */
export interface Names {
  readonly requestId: string;
  readonly userId: string;
  readonly reservationId: string;
  readonly messageId: string;
  readonly orderId: string;
  /** Monotonic. */
  readonly reservedUs: number;
}

type Mutable<Row> = { -readonly [Field in keyof Row]: Row[Field] };
type Row = Readonly<Record<string, string | null>>;

export const PRICE = '9900';
const EVENT_SENT_AFTER_US = 10_000;
const LEDGER_NAMES = { 10: 'ALLOCATE', 20: 'RELEASE', 30: 'SOLD' } as const;

export function uuid(kind: number, number: number): string {
  return `00000000-0000-7000-8${String(kind).padStart(3, '0')}-${number.toString(16).padStart(12, '0')}`;
}

export class HandWrittenRows {
  readonly transactions: CommittedTransaction[] = [];
  readonly run: RunFacts;
  readonly #wallMinusMonoUs: number;
  readonly #endUs: number;
  readonly orders: Mutable<OrderRow>[] = [];
  readonly reservations: Mutable<ReservationRow>[] = [];
  readonly #ledger: LedgerRow[] = [];
  readonly #inbox: InboxRow[] = [];
  readonly #outbox: OutboxRow[] = [];
  readonly #events: EventLogRecord[] = [];
  readonly #closes: EventLogRecord[] = [];
  readonly #messages: OrderLogRecord[] = [];
  readonly #letters: DeadLetterRecord[] = [];
  readonly #letterRows: DeadLetterRow[] = [];
  readonly payments: Mutable<PaymentRow>[] = [];
  readonly #unmatched: UnmatchedPaymentRow[] = [];
  readonly #compensations: CompensationRow[] = [];
  readonly #tokens: Mutable<TokenRow>[];
  readonly #nextOffset = [0, 0];
  #allocated = 0;

  constructor(run: RunFacts, wallMinusMonoUs: number, endUs: number) {
    this.run = run;
    this.#wallMinusMonoUs = wallMinusMonoUs;
    this.#endUs = endUs;
    const count = run.strategies.allocator === 'token' ? run.stock : 0;
    this.#tokens = Array.from({ length: count }, (_, index) => ({ tokenId: String(index + 1), skuId: run.load.skuId, status: 0, reservationId: null }));
  }

  wallUs(monoUs: number): number {
    return monoUs + this.#wallMinusMonoUs;
  }

  wallMs(monoUs: number): number {
    return Math.floor(this.wallUs(monoUs) / 1000);
  }

  commit(monoUs: number, changes: readonly RowChange[]): void {
    const position = this.transactions.length + 1;
    this.transactions.push({ xid: 700 + position, lsn: `0/${(position * 256).toString(16).toUpperCase()}`, committedAtUs: this.wallUs(monoUs), changes });
  }

  /** Appends its message to the orders topic; returns where. */
  send(names: Names): { readonly partition: number; readonly offset: string } {
    const partition = this.#messages.length % 2;
    const next = this.#nextOffset[partition] ?? 0;
    this.#nextOffset[partition] = next + 1;
    const place = { partition, offset: String(next) };
    const { messageId, reservationId, requestId, userId, reservedUs } = names;
    this.#messages.push({
      ...place, appendedAtMs: this.wallMs(reservedUs + 3_000), messageId, reservationId, requestId, userId, skuId: this.run.load.skuId,
      reservedAtMs: this.wallMs(reservedUs), expiresAtMs: this.wallMs(reservedUs) + 300_000,
    });
    return place;
  }

  receive(names: Names, resultCode: string, orderId: string | null): RowChange {
    const consumerGroup = this.run.namespace.ordersGroup;
    const { messageId, reservationId } = names;
    this.#inbox.push({ consumerGroup, messageId, reservationId, resultCode, orderId });
    return { table: 'consumer_inbox', kind: 'insert', row: { consumer_group: consumerGroup, message_id: messageId, reservation_id: reservationId, result_code: resultCode, order_id: orderId } };
  }

  /** An event in the Outbox and in its topic; `dueUs` (monotonic): not sent before. */
  announce(names: Names, type: string, version: number, monoUs: number, orderId: string | null, returnsUnit = false, dueUs: number | null = null): RowChange {
    const eventId = uuid(3, this.#outbox.length + 1);
    const { eventsTopic, closesTopic } = this.run.namespace;
    const sent = dueUs === null || dueUs <= this.#endUs;
    this.#outbox.push({
      eventId, dedupKey: `${type}:${names.reservationId}`, aggregateId: names.reservationId, aggregateVersion: version, type, topic: dueUs === null ? eventsTopic : closesTopic,
      status: sent ? 20 : 0, retryCount: 0, availableAtUs: this.wallUs(dueUs ?? monoUs), archived: this.#outbox.length % 3 === 0 && sent,
    });
    const topic = dueUs === null ? this.#events : this.#closes;
    if (sent) {
      topic.push({
        partition: 0, offset: String(topic.length), appendedAtMs: this.wallMs((dueUs ?? monoUs) + EVENT_SENT_AFTER_US), eventId, type, reservationId: names.reservationId,
        aggregateVersion: version, orderId, reason: null, returnsUnit,
      });
    }
    return { table: 'event_outbox', kind: 'insert', row: { event_id: eventId, aggregate_id: names.reservationId, tag: type, status: '0' } };
  }

  reservation(names: Names, kind: 'insert' | 'update', status: number, orderId: string | null, failureCode: string | null, monoUs: number, purchaseNo = 1): RowChange {
    const { reservationId, requestId, messageId, userId } = names;
    const known = this.reservations.find((row) => row.reservationId === reservationId);
    const committedAtUs = this.wallUs(monoUs);
    if (known !== undefined) Object.assign(known, { status, orderId, failureCode, version: known.version + 1, committedAtUs });
    else this.reservations.push({ reservationId, requestId, firstMessageId: messageId, userId, purchaseNo, status, orderId, failureCode, version: 1, expiresAtUs: this.wallUs(names.reservedUs) + 300_000_000, committedAtUs });
    return { table: 'inventory_reservation', kind, row: { reservation_id: reservationId, request_id: requestId, user_id: userId, status: String(status), order_id: orderId } };
  }

  placeOrder(names: Names, tokenId: string | null, purchaseNo: number, expireUs: number, monoUs: number): RowChange {
    const { orderId, requestId, reservationId, messageId, userId } = names;
    const committedAtUs = this.wallUs(monoUs);
    this.orders.push({
      orderId, requestId, reservationId, sourceMessageId: messageId, userId, skuId: this.run.load.skuId, purchaseNo, inventoryBucket: 0, inventoryTokenId: tokenId, status: 10,
      totalAmount: PRICE, currency: 'CNY', version: 0, expireAtUs: this.wallUs(expireUs), paidAtUs: null, cancelledAtUs: null, cancelReason: null,
      createdAtUs: committedAtUs - 1_000, committedAtUs,
    });
    return this.#orderChange('insert', orderId);
  }

  moveOrder(orderId: string, change: Partial<OrderRow>, monoUs: number): RowChange {
    Object.assign(this.orderOf(orderId), { ...change, committedAtUs: this.wallUs(monoUs) });
    return this.#orderChange('update', orderId);
  }

  orderOf(orderId: string): Mutable<OrderRow> {
    const order = this.orders.find((row) => row.orderId === orderId);
    if (order === undefined) throw new Error(`no order ${orderId}`);
    return order;
  }

  #orderChange(kind: RowChange['kind'], orderId: string): RowChange {
    const order = this.orderOf(orderId);
    const row: Row = {
      order_id: orderId, request_id: order.requestId, reservation_id: order.reservationId, source_message_id: order.sourceMessageId, user_id: order.userId, sku_id: order.skuId,
      status: String(order.status), inventory_token_id: order.inventoryTokenId,
    };
    return { table: 'orders', kind, row };
  }

  payment(paymentId: string, orderId: string, status: number, money: { readonly tradeNo: string; readonly callbackId: string } | null, monoUs: number): RowChange {
    const known = this.payments.find((row) => row.paymentId === paymentId);
    const paid = money === null ? {} : { ...money, paidAtUs: this.wallUs(monoUs) };
    if (known !== undefined) Object.assign(known, { status, version: known.version + 1, ...paid });
    else this.payments.push({ paymentId, orderId, status, provider: 'fake', tradeNo: null, callbackId: null, amount: PRICE, currency: 'CNY', paidAtUs: null, createdAtUs: this.wallUs(monoUs), version: 0, ...paid });
    return { table: 'payment_record', kind: known === undefined ? 'insert' : 'update', row: { payment_id: paymentId, order_id: orderId, status: String(status) } };
  }

  unmatched(orderId: string, tradeNo: string, amount: string, reason: string): void {
    this.#unmatched.push({ unmatchedId: uuid(6, this.#unmatched.length + 1), provider: 'fake', tradeNo, claimedOrderId: orderId, amount, currency: 'CNY', status: 0, reason });
  }

  refundTask(names: Names, paymentId: string, monoUs: number): void {
    this.#compensations.push({
      taskId: uuid(5, this.#compensations.length + 1), idempotencyKey: `REFUND:${paymentId}`, type: 20, reservationId: names.reservationId, orderId: names.orderId, status: 20,
      retryCount: 0, nextRunAtUs: this.wallUs(monoUs),
    });
  }

  giveUp(names: Names, place: { readonly partition: number; readonly offset: string }, monoUs: number): void {
    const { messageId, reservationId } = names;
    const letter = { originTopic: this.run.namespace.ordersTopic, originPartition: place.partition, originOffset: place.offset, messageId, reservationId, cause: 'REFUSED', attempts: 3 };
    this.#letters.push({ ...letter, partition: 0, offset: String(this.#letters.length), appendedAtMs: this.wallMs(monoUs) });
    this.#letterRows.push({ ...letter, deadLetterId: `${letter.originTopic}/${String(place.partition)}/${place.offset}`, status: 0, resolution: null });
  }

  /** The undertaker has ended the reservation: the first letter says how, later ones find it ended. */
  workOffLetters(names: Names): void {
    for (const [index, row] of this.#letterRows.filter(({ reservationId }) => reservationId === names.reservationId).entries()) {
      Object.assign(row, { status: 20, resolution: index === 0 ? 'RELEASED' : 'ALREADY_ENDED' });
    }
  }

  /** Takes a unit (10), gives it back (20) or marks it sold (30), with its ledger entry. Returns the token and the changes. */
  move(names: Names, type: 10 | 20 | 30, tokenId: string | null): { readonly tokenId: string | null; readonly changes: readonly RowChange[] } {
    const by = type === 10 ? 1 : type === 20 ? -1 : 0;
    const token = this.#tokens.find((candidate) => (tokenId === null ? candidate.status === 0 : candidate.tokenId === tokenId)) ?? null;
    if (token === null && this.run.strategies.allocator === 'token') throw new Error('the world has no unit left: its stock was counted wrongly');
    const before = token === null ? this.#allocated : token.status === 0 ? 0 : 1;
    const total = token === null ? this.run.stock : 1;
    this.#allocated += by;
    const ledgerId = String(5_000 + this.#ledger.length);
    this.#ledger.push({
      ledgerId, idempotencyKey: `${LEDGER_NAMES[type]}:${names.reservationId}`, reservationId: names.reservationId, orderId: names.orderId, bucketNo: 0,
      inventoryTokenId: token?.tokenId ?? null, type, reason: LEDGER_NAMES[type], availableDelta: by === 0 ? 0 : -by, allocatedDelta: by, beforeAvailable: total - before,
      afterAvailable: total - before - by, beforeAllocated: before, afterAllocated: before + by,
    });
    const entry: RowChange = { table: 'inventory_ledger', kind: 'insert', row: { ledger_id: ledgerId, reservation_id: names.reservationId, ledger_type: String(type) } };
    if (token === null) {
      const row: Row = { bucket_no: '0', total_stock: String(total), available_stock: String(total - this.#allocated), allocated_stock: String(this.#allocated) };
      return { tokenId: null, changes: by === 0 ? [entry] : [entry, { table: 'sku_inventory', kind: 'update', row }] };
    }
    const status = type === 10 ? 10 : type === 20 ? 0 : 20;
    return { tokenId: token.tokenId, changes: [entry, this.#setToken(token, status, type === 20 ? null : names.reservationId)] };
  }

  /** Takes the unit out of the sale: a token for good, a unit of row stock stays allocated. Nothing becomes available, so nothing is entered. */
  withdraw(tokenId: string | null): readonly RowChange[] {
    const token = this.#tokens.find((candidate) => candidate.tokenId === tokenId);
    return token === undefined ? [] : [this.#setToken(token, 30, null)];
  }

  #setToken(token: Mutable<TokenRow>, status: number, reservationId: string | null): RowChange {
    Object.assign(token, { status, reservationId });
    return { table: 'inventory_token', kind: 'update', row: { token_id: token.tokenId, status: String(status), reservation_id: reservationId } };
  }

  kafkaFacts(): KafkaFacts {
    const bounds = (partition: number, end: number): KafkaFacts['ordersBounds'][number] => ({ partition, beginOffset: '0', endOffset: String(end), committedOffset: String(end) });
    return {
      orders: this.#messages, events: this.#events, closes: this.#closes, deadLetters: this.#letters, malformed: [],
      ordersBounds: this.#nextOffset.map((end, partition) => bounds(partition, end)), eventsBounds: [bounds(0, this.#events.length)],
      closesBounds: [bounds(0, this.#closes.length)], deadLettersBounds: [bounds(0, this.#letters.length)],
    };
  }

  postgresFacts(): PostgresFacts {
    const { skuId } = this.run.load;
    const allocated = this.run.strategies.allocator === 'row' ? this.#allocated : 0;
    return {
      orders: this.orders, reservations: this.reservations, tokens: this.#tokens, ledger: this.#ledger, inbox: this.#inbox, outbox: this.#outbox,
      inventory: [{ skuId, bucketNo: 0, total: this.run.stock, available: this.run.stock - allocated, allocated }],
      compensations: this.#compensations, payments: this.payments, unmatchedPayments: this.#unmatched, deadLetters: this.#letterRows, itemMismatches: [],
    };
  }
}

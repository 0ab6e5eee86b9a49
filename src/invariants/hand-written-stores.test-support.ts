/** What the stores of a hand-written world hold: each reservation is walked to its fate, and every step is written where the right system writes it. */
import type { AnswerCode } from '../domain/reason-codes.js';
import type { RunFacts } from '../facts/facts.js';
import type {
  CommittedTransaction, EventLogRecord, InboxRow, KafkaFacts, LedgerRow, OrderLogRecord, OrderRow, OutboxRow, PostgresFacts, RedisFacts, RedisRecord,
  ReservationRow, RowChange, TokenRow,
} from '../facts/store-facts.js';

/** ordered: unpaid. paid. cancelled: ordered, then given back. rejected: refused by the consumer. closed: ended by the scanner, never sent. */
export type Fate = 'ordered' | 'paid' | 'cancelled' | 'rejected' | 'closed';

export interface Wanted {
  readonly requestId: string;
  readonly userId: string;
  /** Reserved by the arrival with the other payload. */
  readonly conflicting: boolean;
  readonly fate: Fate;
  /** Monotonic. */
  readonly reservedUs: number;
  readonly arrival: number;
}

export interface Made extends Wanted {
  readonly reservationId: string;
  readonly messageId: string;
  readonly orderId: string;
  readonly arrivals: number[];
}

type Row = Readonly<Record<string, string | null>>;

/** From reservation to commit, and to a later change of the order. */
const COMMIT_AFTER_US = 50_000;
const LATER_US = 3_000_000;

function uuid(kind: number, number: number): string {
  return `00000000-0000-7000-8${String(kind).padStart(3, '0')}-${number.toString(16).padStart(12, '0')}`;
}

export class HandWrittenStores {
  readonly transactions: CommittedTransaction[] = [];
  readonly #run: RunFacts;
  readonly #wallMinusMonoUs: number;
  readonly #records: RedisRecord[] = [];
  readonly #orders: OrderRow[] = [];
  readonly #reservations: ReservationRow[] = [];
  readonly #ledger: LedgerRow[] = [];
  readonly #inbox: InboxRow[] = [];
  readonly #outbox: OutboxRow[] = [];
  readonly #events: EventLogRecord[] = [];
  readonly #messages: OrderLogRecord[] = [];
  readonly #tokens: TokenRow[];
  readonly #nextOffset = [0, 0];
  readonly #later: (() => void)[] = [];
  #allocated = 0;
  #made = 0;

  constructor(run: RunFacts, wallMinusMonoUs: number) {
    this.#run = run;
    this.#wallMinusMonoUs = wallMinusMonoUs;
    const count = run.strategies.allocator === 'token' ? run.stock : 0;
    this.#tokens = Array.from({ length: count }, (_, index) => ({ tokenId: String(index + 1), skuId: run.load.skuId, status: 0, reservationId: null }));
  }

  reserve(wanted: Wanted): Made {
    this.#made += 1;
    const number = this.#made;
    return { ...wanted, reservationId: uuid(1, number), messageId: uuid(2, number), orderId: String(9_100_000_000_000_000_000n + BigInt(number)), arrivals: [wanted.arrival] };
  }

  /** What a query hears at this moment. */
  stateAt(made: Made, atUs: number): AnswerCode {
    const ordered = made.fate === 'ordered' || made.fate === 'paid' || made.fate === 'cancelled';
    return ordered && atUs > made.reservedUs + COMMIT_AFTER_US + 5_000 && atUs < made.reservedUs + LATER_US ? 'ORDERED' : 'QUEUED';
  }

  settle(made: Made, twice: boolean): void {
    const committedUs = made.reservedUs + COMMIT_AFTER_US;
    if (made.fate !== 'closed') for (let copy = 0; copy < (twice ? 2 : 1); copy += 1) this.#send(made);
    if (made.fate === 'closed') this.#end(made, 50, null, 'RESERVATION_RELEASED', committedUs, []);
    else if (made.fate === 'rejected') this.#end(made, 20, 'REJECTED_EXPIRED', 'RESERVATION_REJECTED', committedUs, [this.#receive(made, 'REJECTED_EXPIRED', null)]);
    else this.#order(made, committedUs);
    this.#records.push({
      requestId: made.requestId, userId: made.userId, reservationId: made.reservationId, messageId: made.messageId, payloadHash: 'ab'.repeat(32), purchaseNo: 1,
      state: made.fate === 'rejected' ? 'R' : made.fate === 'closed' || made.fate === 'cancelled' ? 'L' : 'O',
      reservedAtMs: this.#wallMs(made.reservedUs), expiresAtMs: this.#wallMs(made.reservedUs) + 300_000,
      orderId: made.fate === 'rejected' || made.fate === 'closed' ? null : made.orderId, appliedVersion: 1,
      reason: null, unitReturned: made.fate !== 'ordered' && made.fate !== 'paid',
    });
  }

  /** Payments and cancellations come after all orders, in commit order. */
  cancelDue(): void {
    for (const change of this.#later) change();
  }

  #wallMs(monoUs: number): number {
    return Math.floor((monoUs + this.#wallMinusMonoUs) / 1000);
  }

  #commit(monoUs: number, changes: readonly RowChange[]): number {
    const committedAtUs = monoUs + this.#wallMinusMonoUs;
    const position = this.transactions.length + 1;
    this.transactions.push({ xid: 700 + position, lsn: `0/${(position * 256).toString(16).toUpperCase()}`, committedAtUs, changes });
    return committedAtUs;
  }

  #send(made: Made): void {
    const partition = this.#messages.length % 2;
    const offset = this.#nextOffset[partition] ?? 0;
    this.#nextOffset[partition] = offset + 1;
    this.#messages.push({
      partition, offset: String(offset), appendedAtMs: this.#wallMs(made.reservedUs + 3_000), messageId: made.messageId, reservationId: made.reservationId,
      requestId: made.requestId, userId: made.userId, skuId: this.#run.load.skuId, reservedAtMs: this.#wallMs(made.reservedUs),
      expiresAtMs: this.#wallMs(made.reservedUs) + 300_000,
    });
  }

  #receive(made: Made, resultCode: string, orderId: string | null): RowChange {
    const consumerGroup = this.#run.namespace.ordersGroup;
    this.#inbox.push({ consumerGroup, messageId: made.messageId, reservationId: made.reservationId, resultCode, orderId });
    return { table: 'consumer_inbox', kind: 'insert', row: { consumer_group: consumerGroup, message_id: made.messageId, reservation_id: made.reservationId, result_code: resultCode, order_id: orderId } };
  }

  #announce(made: Made, type: string, version: number, monoUs: number): RowChange {
    const eventId = uuid(3, this.#outbox.length + 1);
    this.#outbox.push({
      eventId, dedupKey: `${type}:${made.reservationId}`, aggregateId: made.reservationId, aggregateVersion: version, type, status: 20, retryCount: 0,
      topic: this.#run.namespace.eventsTopic, availableAtUs: monoUs + this.#wallMinusMonoUs, archived: false,
    });
    this.#events.push({
      partition: 0, offset: String(this.#events.length), appendedAtMs: this.#wallMs(monoUs + 10_000), eventId, type, reservationId: made.reservationId, aggregateVersion: version,
      orderId: made.orderId, reason: null, returnsUnit: type === 'RESERVATION_RELEASED' || type === 'RESERVATION_REJECTED',
    });
    return { table: 'event_outbox', kind: 'insert', row: { event_id: eventId, aggregate_id: made.reservationId, tag: type, status: '0' } };
  }

  #reservationChange(made: Made, kind: RowChange['kind'], status: number, orderId: string | null): RowChange {
    const row: Row = { reservation_id: made.reservationId, request_id: made.requestId, user_id: made.userId, status: String(status), order_id: orderId };
    return { table: 'inventory_reservation', kind, row };
  }

  #orderChange(made: Made, kind: RowChange['kind'], status: number, tokenId: string | null): RowChange {
    const row: Row = {
      order_id: made.orderId, request_id: made.requestId, reservation_id: made.reservationId, source_message_id: made.messageId, user_id: made.userId,
      sku_id: this.#run.load.skuId, status: String(status), inventory_token_id: tokenId,
    };
    return { table: 'orders', kind, row };
  }

  #putReservation(made: Made, status: number, orderId: string | null, failureCode: string | null, version: number, committedAtUs: number): void {
    const row = {
      reservationId: made.reservationId, requestId: made.requestId, firstMessageId: made.messageId, userId: made.userId, purchaseNo: 1, status, orderId, failureCode, version,
      expiresAtUs: made.reservedUs + this.#wallMinusMonoUs + 300_000_000, committedAtUs,
    };
    const at = this.#reservations.findIndex((known) => known.reservationId === made.reservationId);
    this.#reservations.splice(at < 0 ? this.#reservations.length : at, at < 0 ? 0 : 1, row);
  }

  #putOrder(made: Made, status: number, tokenId: string | null, committedAtUs: number): void {
    const row = {
      orderId: made.orderId, requestId: made.requestId, reservationId: made.reservationId, sourceMessageId: made.messageId, userId: made.userId,
      skuId: this.#run.load.skuId, purchaseNo: 1, inventoryBucket: 0, inventoryTokenId: tokenId, status, totalAmount: '9900', currency: 'CNY', version: 0,
      expireAtUs: committedAtUs + 900_000_000, paidAtUs: null, cancelledAtUs: null, cancelReason: null,
      createdAtUs: committedAtUs - 1_000, committedAtUs,
    };
    const at = this.#orders.findIndex((known) => known.orderId === made.orderId);
    this.#orders.splice(at < 0 ? this.#orders.length : at, at < 0 ? 0 : 1, row);
  }

  #end(made: Made, status: number, failureCode: string | null, event: string, monoUs: number, before: readonly RowChange[]): void {
    const committedAtUs = this.#commit(monoUs, [...before, this.#reservationChange(made, 'insert', status, null), this.#announce(made, event, 1, monoUs)]);
    this.#putReservation(made, status, null, failureCode, 1, committedAtUs);
  }

  /** Takes (+1) or gives back (−1) a unit, or marks it paid (0); writes its ledger entry. Returns the token and the change of the account. */
  #move(made: Made, type: 10 | 20 | 30, tokenId: string | null): { readonly tokenId: string | null; readonly changes: readonly RowChange[] } {
    const by = type === 10 ? 1 : type === 20 ? -1 : 0;
    const token = this.#tokens.find((candidate) => (tokenId === null ? candidate.status === 0 : candidate.tokenId === tokenId)) ?? null;
    const before = token === null ? this.#allocated : token.status === 0 ? 0 : 1;
    const total = token === null ? this.#run.stock : 1;
    this.#allocated += by;
    const name = type === 10 ? 'ALLOCATE' : type === 20 ? 'RELEASE' : 'SOLD';
    this.#ledger.push({
      ledgerId: String(5_000 + this.#ledger.length), idempotencyKey: `${name}:${made.reservationId}`, reservationId: made.reservationId, orderId: made.orderId, bucketNo: 0,
      inventoryTokenId: token?.tokenId ?? null, type, reason: name, availableDelta: by === 0 ? 0 : -by, allocatedDelta: by, beforeAvailable: total - before, afterAvailable: total - before - by,
      beforeAllocated: before, afterAllocated: before + by,
    });
    if (token === null) {
      const row: Row = { bucket_no: '0', total_stock: String(total), available_stock: String(total - this.#allocated), allocated_stock: String(this.#allocated) };
      return { tokenId: null, changes: by === 0 ? [] : [{ table: 'sku_inventory', kind: 'update', row }] };
    }
    const changed = { ...token, status: type === 10 ? 10 : type === 20 ? 0 : 20, reservationId: type === 20 ? null : made.reservationId };
    this.#tokens.splice(this.#tokens.indexOf(token), 1, changed);
    return { tokenId: token.tokenId, changes: [{ table: 'inventory_token', kind: 'update', row: { token_id: token.tokenId, status: String(changed.status), reservation_id: changed.reservationId } }] };
  }

  #order(made: Made, monoUs: number): void {
    const inbox = this.#receive(made, 'ORDER_CREATED', made.orderId);
    const { tokenId, changes } = this.#move(made, 10, null);
    const committedAtUs = this.#commit(monoUs, [
      inbox, this.#reservationChange(made, 'insert', 0, null), this.#orderChange(made, 'insert', 10, tokenId), ...changes,
      this.#reservationChange(made, 'update', 10, made.orderId), this.#announce(made, 'ORDER_CREATED', 1, monoUs),
    ]);
    this.#putReservation(made, 10, made.orderId, null, 1, committedAtUs);
    this.#putOrder(made, 10, tokenId, committedAtUs);
    const laterUs = made.reservedUs + LATER_US;
    if (made.fate === 'paid') this.#later.push(() => { this.#pay(made, tokenId, laterUs); });
    if (made.fate === 'cancelled') this.#later.push(() => { this.#cancel(made, tokenId, laterUs); });
  }

  #pay(made: Made, tokenId: string | null, monoUs: number): void {
    const { changes } = this.#move(made, 30, tokenId);
    const committedAtUs = this.#commit(monoUs, [this.#orderChange(made, 'update', 30, tokenId), ...changes, this.#announce(made, 'ORDER_PAID', 2, monoUs)]);
    this.#putOrder(made, 30, tokenId, committedAtUs);
  }

  #cancel(made: Made, tokenId: string | null, monoUs: number): void {
    const { changes } = this.#move(made, 20, tokenId);
    const committedAtUs = this.#commit(monoUs, [
      this.#orderChange(made, 'update', 40, tokenId), this.#reservationChange(made, 'update', 40, made.orderId), ...changes,
      this.#announce(made, 'ORDER_CANCELLED', 2, monoUs), this.#announce(made, 'RESERVATION_RELEASED', 3, monoUs),
    ]);
    this.#putOrder(made, 40, tokenId, committedAtUs);
    this.#putReservation(made, 40, made.orderId, null, 2, committedAtUs);
  }

  redisFacts(): RedisFacts {
    const held = this.#records.filter((record) => record.state === 'O');
    return {
      stock: this.#run.stock - held.length, meta: { epoch: '1' }, records: this.#records, pending: [], problems: [], runId: 'hand',
      users: held.map((record) => ({ userId: record.userId, requestId: record.requestId })),
    };
  }

  kafkaFacts(): KafkaFacts {
    const bounds = (partition: number, end: number): KafkaFacts['ordersBounds'][number] => ({ partition, beginOffset: '0', endOffset: String(end), committedOffset: String(end) });
    return {
      orders: this.#messages, events: this.#events, closes: [], deadLetters: [], malformed: [], ordersBounds: this.#nextOffset.map((end, partition) => bounds(partition, end)),
      eventsBounds: [bounds(0, this.#events.length)], closesBounds: [], deadLettersBounds: [],
    };
  }

  postgresFacts(): PostgresFacts {
    const { skuId } = this.#run.load;
    const allocated = this.#run.strategies.allocator === 'row' ? this.#allocated : 0;
    return {
      orders: this.#orders, reservations: this.#reservations, tokens: this.#tokens, ledger: this.#ledger, inbox: this.#inbox, outbox: this.#outbox,
      inventory: [{ skuId, bucketNo: 0, total: this.#run.stock, available: this.#run.stock - allocated, allocated }],
      compensations: [], payments: [], unmatchedPayments: [], deadLetters: [], itemMismatches: [],
    };
  }
}

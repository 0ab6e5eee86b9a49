/**
 * The clients who pay, and the payment channel that takes their money. Each client that hears of its order does what `payer-plan.ts` says: it starts a payment (or
 * pays unannounced), the channel calls back, again, contradicts itself, comes too late; it cancels; it wants its money back.
 *
 * What gets no answer, an unreadable one or TRY_AGAIN is asked again with the same content after a pause, `TRIES_MAX` times in all: channels do so, and a
 * callback that was never heard is money lost. Every try is told.
 */
import type { CallbackStatus } from '../domain/payment-contract.js';
import type { OrderId, UserId } from '../domain/ids.js';
import type { HostPort } from '../domain/role-config.js';
import { userIdAt, type ArrivalPlan } from '../facts/arrival-plan.js';
import { NO_BOOKS, type ChannelBooks } from '../facts/channel-books.js';
import type { PayerAct, PayerTelling } from '../facts/history.js';
import type { LoadSpec } from '../facts/load-spec.js';
import { payerAt, unknownOrderId, type PlannedPayer } from '../facts/payer-plan.js';
import { ConnectionPool } from './connection-pool.js';
import { FakeChannel } from './fake-channel.js';
import { PROVIDER, paymentTextsFor, readPaymentAnswer, type PaymentTexts, type ReadPaymentAnswer } from './payment-text.js';
import type { TellingsFile } from './tellings-file.js';
import { TimedQueue } from './timed-queue.js';

const CONNECTIONS = 32;
const TRIES_MAX = 40;
const TRY_AGAIN_AFTER_US = 250_000;
const SWEEP_EVERY_US = 10_000;

/** A client with an order, and how far it has come. */
interface Payer {
  readonly arrival: number;
  readonly orderId: OrderId;
  readonly userId: UserId;
  readonly plan: PlannedPayer;
  readonly heardUs: number;
  act: PayerAct;
  /** Index of the callback that is next or under way. */
  callback: number;
  tries: number;
  paymentId: string | null;
  amount: string | null;
  currency: string;
  hasPaid: boolean;
}

/** What the channel sends, for the request and for what is told of it. */
interface SentCallback {
  readonly tradeNo: string;
  readonly callbackId: string;
  readonly orderId: OrderId;
  readonly amount: number;
  readonly status: CallbackStatus;
}

export interface PayersJob {
  /** Every process of the payment role. */
  readonly targets: readonly HostPort[];
  /** Of the callbacks' signatures; null: not signed. */
  readonly callbackSecret: string | null;
  /** Where the channel listens for questions; null: it cannot be asked. */
  readonly channel: HostPort | null;
}

export class Payers {
  readonly #load: LoadSpec;
  readonly #plan: ArrivalPlan;
  readonly #tellings: Pick<TellingsFile, 'tellPayer'>;
  readonly #pool: ConnectionPool;
  readonly #texts: readonly PaymentTexts[];
  readonly #payers: Payer[] = [];
  readonly #known = new Set<number>();
  readonly #due = new TimedQueue();
  readonly #channel: FakeChannel | null;
  readonly #channelAddress: HostPort | null;
  /** Payers whose channel is silent, by payment, until somebody has asked it. */
  readonly #silent = new Set<string>();
  #unfinished = 0;
  #closed = false;
  #sweptUs = -Infinity;

  constructor(job: PayersJob, parts: { readonly load: LoadSpec; readonly plan: ArrivalPlan; readonly tellings: Pick<TellingsFile, 'tellPayer'> }) {
    this.#load = parts.load;
    this.#plan = parts.plan;
    this.#tellings = parts.tellings;
    this.#texts = job.targets.map((target) => paymentTextsFor(target, job.callbackSecret));
    this.#channelAddress = job.channel;
    this.#channel = parts.load.payers === null ? null : new FakeChannel(parts.load.payers.answers, parts.load.seed);
    if (this.#channel !== null) this.#channel.onTold = (paymentId) => {
      if (this.#silent.delete(paymentId)) this.#unfinished -= 1;
    };
    this.#pool = new ConnectionPool(job.targets, CONNECTIONS, {
      free: () => undefined,
      answered: (token, nowUs, askedUs, { status, body }) => {
        this.#heard(token, askedUs, nowUs, status, readPaymentAnswer(body));
      },
      lost: (token, nowUs, askedUs) => {
        this.#heard(token, askedUs, nowUs, null, null);
      },
    });
  }

  /** Payers that have something left to do. */
  get unfinished(): number {
    return this.#unfinished;
  }

  async open(): Promise<void> {
    if (this.#channelAddress !== null) await this.#channel?.listen(this.#channelAddress);
    await this.#pool.open();
    if (this.#pool.connected().every((count) => count === 0)) throw new Error('no payment role accepts a connection');
  }

  /** A client hears, at first or again, that the request of this arrival has an order. */
  heardOfOrder(arrival: number, orderId: OrderId, nowUs: number): void {
    if (this.#closed || this.#known.has(arrival)) return;
    this.#known.add(arrival);
    const plan = payerAt(this.#load, arrival);
    if (plan.kind === 'never') return;
    const act: PayerAct = plan.kind === 'cancel' ? 'cancel' : plan.announced ? 'start-payment' : 'read-order';
    this.#unfinished += 1;
    const payer: Payer = {
      arrival, orderId, userId: userIdAt(this.#plan, arrival), plan, heardUs: nowUs, act, callback: 0, tries: 0, paymentId: null, amount: null, currency: '', hasPaid: false,
    };
    this.#due.push(this.#payers.push(payer) - 1, nowUs + plan.actsAfterMs * 1000);
  }

  /** Sends what is due and gives up what waits too long. */
  tick(nowUs: number): void {
    for (let token = this.#due.peek(nowUs); token !== null; token = this.#due.peek(nowUs)) {
      const payer = this.#payerOf(token);
      if (payer.act === 'callback') this.#takeMoney(payer);
      if (payer.act === 'callback' && payer.plan.silent) {
        this.#due.shift();
        continue;
      }
      const connection = this.#pool.acquire();
      if (connection === null) break;
      this.#due.shift();
      this.#pool.send(connection, this.#textOf(payer, connection.target), token, nowUs);
    }
    if (nowUs - this.#sweptUs < SWEEP_EVERY_US) return;
    this.#sweptUs = nowUs;
    this.#pool.maintain(nowUs, Infinity);
    this.#pool.expire(nowUs, this.#load.requestTimeoutMs * 1000);
  }

  /** Nobody begins to pay any more, and what is not done stays undone. The channel still answers. */
  stop(): void {
    this.#closed = true;
    this.#due.clear();
    this.#pool.close();
  }

  /** Returns the channel's books: nobody pays or is paid any more. */
  async close(): Promise<ChannelBooks> {
    this.stop();
    await this.#channel?.close();
    return this.#channel?.books ?? NO_BOOKS;
  }

  /** The channel has the money from the moment at which it calls back, or would. */
  #takeMoney(payer: Payer): void {
    const sent = sentBy(payer);
    if (sent.status !== 'SUCCEEDED') return;
    const { tradeNo, orderId, amount } = sent;
    const paymentId = isAnnounced(payer, sent) ? payer.paymentId : null;
    this.#channel?.charge({ tradeNo, provider: PROVIDER, paymentId, orderId, amount: String(amount), currency: payer.currency });
    if (payer.paymentId === null || paymentId === null) return;
    this.#channel?.took(payer.paymentId, { tradeNo, orderId, amount, currency: payer.currency, callsBack: !payer.plan.silent });
    if (payer.plan.silent) this.#silent.add(payer.paymentId);
  }

  #textOf(payer: Payer, target: number): string {
    const texts = this.#texts[target];
    if (texts === undefined) throw new Error(`no payment target ${String(target)}`);
    if (payer.act === 'start-payment') return texts.startPayment(payer.orderId, payer.userId);
    if (payer.act === 'read-order') return texts.readOrder(payer.orderId, payer.userId);
    if (payer.act === 'cancel') return texts.cancel(payer.orderId, payer.userId);
    if (payer.act === 'refund') return texts.refund(payer.orderId, payer.userId);
    const sent = sentBy(payer);
    return texts.callback({ provider: PROVIDER, currency: payer.currency, paymentId: isAnnounced(payer, sent) ? payer.paymentId : null, ...sent });
  }

  #heard(token: number, askedUs: number, nowUs: number, status: number | null, answer: ReadPaymentAnswer | null): void {
    const payer = this.#payerOf(token);
    this.#tell(payer, askedUs, status === null ? null : nowUs, status, answer);
    if (answer === null || (answer.code ?? 'TRY_AGAIN') === 'TRY_AGAIN') {
      payer.tries += 1;
      if (payer.tries < TRIES_MAX) this.#due.push(token, nowUs + TRY_AGAIN_AFTER_US);
      else this.#unfinished -= 1;
      return;
    }
    payer.tries = 0;
    const dueUs = this.#next(payer, answer, nowUs);
    if (dueUs === null) this.#unfinished -= 1;
    else this.#due.push(token, dueUs);
  }

  /** Moves the payer on to its next act and returns when that is due, or null when it has done all. */
  #next(payer: Payer, answer: ReadPaymentAnswer, nowUs: number): number | null {
    const { plan } = payer;
    if (payer.act === 'cancel' || payer.act === 'refund') return null;
    if (payer.act === 'callback') {
      payer.hasPaid ||= answer.code === 'PAID';
      payer.callback += 1;
      if (payer.callback < plan.callbacks.length) return nowUs + (this.#load.payers?.callbackAfterMs ?? 0) * 1000;
      if (plan.kind !== 'refund' || !payer.hasPaid) return null;
      payer.act = 'refund';
      return nowUs;
    }
    // Without an amount there was nothing to start: the order was over before.
    if (answer.amount === null) return null;
    payer.paymentId = answer.paymentId;
    payer.amount = answer.amount;
    payer.currency = answer.currency ?? '';
    payer.act = 'callback';
    return Math.max(nowUs, payer.heardUs + plan.callbackAfterMs * 1000);
  }

  #tell(payer: Payer, askedUs: number, answeredUs: number | null, httpStatus: number | null, answer: ReadPaymentAnswer | null): void {
    const sent = payer.act === 'callback' ? sentBy(payer) : null;
    const telling: PayerTelling = {
      kind: payer.act === 'cancel' || payer.act === 'refund' ? payer.act : 'payment',
      act: payer.act,
      arrival: payer.arrival,
      userId: payer.userId,
      orderId: sent?.orderId ?? payer.orderId,
      channelTradeNo: sent?.tradeNo ?? null,
      callbackId: sent?.callbackId ?? null,
      amountMinor: sent === null ? null : String(sent.amount),
      channelSays: sent?.status ?? null,
      askedUs,
      answeredUs,
      httpStatus,
      code: answer?.code ?? null,
      reason: answer?.reason ?? null,
    };
    this.#tellings.tellPayer(telling);
  }

  #payerOf(token: number): Payer {
    const payer = this.#payers[token];
    if (payer === undefined) throw new Error(`no payer ${String(token)}`);
    return payer;
  }
}

/** The channel knows our payment for the money that was announced; whatever comes besides names the order only. */
function isAnnounced({ plan }: Payer, sent: SentCallback): boolean {
  return plan.announced && sent.tradeNo === plan.callbacks[0]?.tradeNo;
}

function sentBy(payer: Payer): SentCallback {
  const planned = payer.plan.callbacks[payer.callback];
  if (planned === undefined) throw new Error(`payer of arrival ${String(payer.arrival)} has no callback ${String(payer.callback)}`);
  return {
    tradeNo: planned.tradeNo,
    callbackId: planned.callbackId,
    orderId: planned.unknownOrder ? unknownOrderId(payer.arrival) : payer.orderId,
    amount: Number(payer.amount ?? 0) + planned.amountOff,
    status: planned.says,
  };
}

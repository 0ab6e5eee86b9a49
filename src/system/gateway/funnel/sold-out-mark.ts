/**
 * "Sold out" from memory. Redis has proved it a moment ago, and nobody is accepted for `soldOutMarkMs` after such a proof, by whatever gateway: units that come
 * back wait that long (lua/reserve_batch). So once the accepted requests and their users are loaded, everybody who is not among them can be refused without
 * asking, and that is true until the proof is over. Whoever is among them goes on to Redis, which knows his state and his payload.
 *
 * The list need not be read where this gateway has accepted everybody itself: Redis tells with each refusal how many have been accepted, and when the gateway's own list
 * of the same epoch is as long, it is that list, since all of it is in Redis (docs/decisions/0025). Reading ten thousand winners took as long as selling them.
 *
 * The proof is renewed in the background while there are requests. The mark clears as soon as a renewal sees units.
 */
import type { FunnelTuning } from '../../../domain/funnel.js';
import type { RequestId, SkuKey, UserId } from '../../../domain/ids.js';
import type { SoldOut } from '../../stock/stock-port.js';
import { epochOfTurn, type StockView } from '../../stock/stock-view.js';
import { soldOut, type GatewayAnswer } from '../answers.js';
import type { ValidReservation } from '../validate.js';
import { PresenceFilter } from './presence-filter.js';

export type SoldOutKind = 'TEMP_SOLD_OUT' | 'FINAL_SOLD_OUT';

export interface SoldOutMark {
  /** Null: not known to be sold out, or the request may be one of the accepted. */
  pass(request: ValidReservation): GatewayAnswer | null;
  /** What everybody hears now who is surely not among the accepted, but for the request id; null: the mark does not stand. */
  standing(): GatewayAnswer | null;
  /** False: neither the request nor the user of these hashes (`presence-filter.ts`) is among the accepted that were loaded. */
  mayTouch(requestHash: number, userHash: number): boolean;
  /** Of the accepted requests that were loaded. */
  isAccepted(requestId: RequestId, userId: UserId): boolean;
  /** Redis has said that it holds this accepted request, under this epoch. */
  accepted(epoch: string, requestId: RequestId, userId: UserId): void;
  /** A refusal by Redis; `askedAtMs`: monotonic, before the question was sent. */
  told(proof: SoldOut, askedAtMs: number): void;
  /** What a new request hears where nothing is left; null while the mark does not stand. */
  kind(): SoldOutKind | null;
  /** The kind by what is known, whether the mark stands or not: for a refusal by Redis itself. */
  readonly kindIfSoldOut: SoldOutKind;
  retryAfterMs(kind: SoldOutKind): number;
}

export interface SoldOutMarkOptions {
  readonly sku: SkuKey;
  readonly view: StockView;
  /** Whether an unpaid or unfinished reservation may still give its unit back; null: not known, then it may. Never rejects. */
  readonly unitsMayReturn: () => Promise<boolean | null>;
  readonly tuning: Pick<FunnelTuning, 'soldOutMarkMs' | 'tempSoldOutRetryMs' | 'finalSoldOutRetryMs'>;
  /** Told whenever the winners of a turn are known and the mark stands. */
  readonly onKnown?: () => void;
  readonly nowMs?: () => number;
}

const PAGE = 1_000;
/** PostgreSQL is asked this rarely whether units may come back: it is a word on the page, not a decision. */
const RETURNS_ASKED_EVERY_MS = 2_000;

/** A SKU with more units than this has its winners read from Redis. */
const OWN_MAX = 2_000_000;

/** Accepted requests and their users. */
class Winners {
  readonly #requests = new Map<RequestId, UserId | null>();
  readonly #users = new Set<UserId>();
  readonly #filter = new PresenceFilter();

  /** `userId` null: the record cannot be read. */
  add(requestId: RequestId, userId: UserId | null): void {
    this.#requests.set(requestId, userId);
    this.#filter.add(requestId);
    if (userId === null) return;
    this.#users.add(userId);
    this.#filter.add(userId);
  }

  get size(): number {
    return this.#requests.size;
  }

  isOwn(requestId: RequestId, userId: UserId): boolean {
    return this.#filter.mayHold(requestId) && this.#requests.get(requestId) === userId;
  }

  /** Whether the request or the user is among them. */
  touch(requestId: RequestId, userId: UserId): boolean {
    return (this.#filter.mayHold(requestId) && this.#requests.has(requestId)) || (this.#filter.mayHold(userId) && this.#users.has(userId));
  }

  mayTouch(requestHash: number, userHash: number): boolean {
    return this.#filter.mayHoldHash(requestHash) || this.#filter.mayHoldHash(userHash);
  }
}

class Mark implements SoldOutMark {
  readonly #options: SoldOutMarkOptions;
  readonly #nowMs: () => number;
  #turn: string | null = null;
  /** Of `#turn`, whole; null: not loaded. */
  #winners: Winners | null = null;
  #loading = false;
  /** Accepted through this gateway, of one epoch. */
  #own = new Winners();
  #ownEpoch: string | null = null;
  #provenUntilMs = -Infinity;
  #renewFromMs = Infinity;
  #renewing = false;
  #mayReturn = true;
  #returnsAskedAtMs = -Infinity;

  constructor(options: SoldOutMarkOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  pass({ requestId, userId }: ValidReservation): GatewayAnswer | null {
    if (!this.#stands() || this.#winners?.touch(requestId, userId) === true) return null;
    const kind = this.kindIfSoldOut;
    return soldOut(kind, requestId, this.retryAfterMs(kind));
  }

  standing(): GatewayAnswer | null {
    if (!this.#stands()) return null;
    const kind = this.kindIfSoldOut;
    return soldOut(kind, '', this.retryAfterMs(kind));
  }

  mayTouch(requestHash: number, userHash: number): boolean {
    return this.#winners?.mayTouch(requestHash, userHash) === true;
  }

  /** Asked for a request, so it also sees to it that the proof is renewed in time. */
  #stands(): boolean {
    if (this.#winners === null) return false;
    const now = this.#nowMs();
    if (now >= this.#provenUntilMs) return false;
    if (now >= this.#renewFromMs && !this.#renewing) void this.#renew();
    return true;
  }

  isAccepted(requestId: RequestId, userId: UserId): boolean {
    return this.#winners?.isOwn(requestId, userId) === true;
  }

  kind(): SoldOutKind | null {
    return this.#winners !== null && this.#nowMs() < this.#provenUntilMs ? this.kindIfSoldOut : null;
  }

  get kindIfSoldOut(): SoldOutKind {
    return this.#mayReturn ? 'TEMP_SOLD_OUT' : 'FINAL_SOLD_OUT';
  }

  retryAfterMs(kind: SoldOutKind): number {
    const { tempSoldOutRetryMs, finalSoldOutRetryMs } = this.#options.tuning;
    return kind === 'TEMP_SOLD_OUT' ? tempSoldOutRetryMs : finalSoldOutRetryMs;
  }

  accepted(epoch: string, requestId: RequestId, userId: UserId): void {
    if (epoch !== this.#ownEpoch) {
      // Another epoch's Redis may have lost some of them.
      this.#ownEpoch = epoch;
      this.#own = new Winners();
    }
    if (this.#own.size < OWN_MAX) this.#own.add(requestId, userId);
  }

  told({ turn, reopensInMs, acceptedCount }: SoldOut, askedAtMs: number): void {
    const { soldOutMarkMs } = this.#options.tuning;
    if (reopensInMs > 0) {
      // Units are back. Until they are sold the old list of winners is whole; then Redis has to be asked again.
      this.#mayReturn = true;
      this.#prove(turn, acceptedCount, askedAtMs + reopensInMs, Infinity);
    } else {
      this.#prove(turn, acceptedCount, askedAtMs + soldOutMarkMs, askedAtMs + soldOutMarkMs / 2);
    }
  }

  #prove(turn: string, acceptedCount: number, untilMs: number, renewFromMs: number): void {
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#winners = null;
      this.#mayReturn = true;
      this.#provenUntilMs = untilMs;
      this.#renewFromMs = renewFromMs;
    } else if (untilMs > this.#provenUntilMs) {
      this.#provenUntilMs = untilMs;
      this.#renewFromMs = renewFromMs;
    }
    if (this.#winners !== null) return;
    // Nobody is accepted while a turn lasts, so a list that is whole now stays so.
    if (this.#isOwnWhole(turn, acceptedCount)) this.#stand(this.#own);
    else if (!this.#loading) void this.#standOrLoad(turn, acceptedCount);
  }

  #isOwnWhole(turn: string, acceptedCount: number): boolean {
    return this.#ownEpoch === epochOfTurn(turn) && this.#own.size === acceptedCount;
  }

  /** Acceptances that came with this very refusal may still be on their way through this turn of the event loop; ten thousand winners are not read for that. */
  async #standOrLoad(turn: string, acceptedCount: number): Promise<void> {
    this.#loading = true;
    await new Promise(setImmediate);
    this.#loading = false;
    if (this.#turn !== turn || this.#winners !== null) return;
    if (this.#isOwnWhole(turn, acceptedCount)) this.#stand(this.#own);
    else await this.#load(turn);
  }

  /** All accepted requests, page by page. Begun after the proof, so nobody of its turn is missing. */
  async #load(turn: string): Promise<void> {
    this.#loading = true;
    const winners = new Winners();
    let cursor = '0';
    let whole = false;
    do {
      const page = await this.#options.view.accepted(this.#options.sku, cursor, PAGE);
      if (page.outcome !== 'done' || this.#turn !== turn) break;
      for (const { requestId, userId } of page.value.requests) winners.add(requestId, userId);
      cursor = page.value.nextCursor;
      whole = cursor === '0';
    } while (!whole);
    this.#loading = false;
    if (!whole || this.#turn !== turn || this.#winners !== null) return;
    // Pages read in later turns hold more than this turn's winners, never fewer.
    this.#stand(winners);
    await this.#renew();
  }

  #stand(winners: Winners): void {
    this.#winners = winners;
    this.#options.onKnown?.();
  }

  async #renew(): Promise<void> {
    this.#renewing = true;
    const askedAtMs = this.#nowMs();
    const standing = await this.#options.view.standing(this.#options.sku);
    if (standing.outcome === 'done' && standing.value !== null) {
      const { stockLeft, soldOutTurn, pendingCount, acceptedCount } = standing.value;
      // A repair has put a lost record back: whoever has it again is a winner, and this list does not know him.
      if (this.#winners !== null && acceptedCount !== this.#winners.size) this.#winners = null;
      if (stockLeft < 1 && soldOutTurn !== null) {
        this.told({ turn: soldOutTurn, reopensInMs: 0, acceptedCount }, askedAtMs);
        // Not waited for: a slow PostgreSQL must not keep the proof from being renewed.
        void this.#lookForReturns(pendingCount, askedAtMs);
      } else {
        // Units are there. The first request that reaches Redis now starts their waiting time.
        this.#provenUntilMs = -Infinity;
      }
    }
    this.#renewing = false;
  }

  async #lookForReturns(pendingCount: number, nowMs: number): Promise<void> {
    if (pendingCount > 0) {
      this.#mayReturn = true;
      return;
    }
    if (nowMs - this.#returnsAskedAtMs < RETURNS_ASKED_EVERY_MS) return;
    this.#returnsAskedAtMs = nowMs;
    this.#mayReturn = (await this.#options.unitsMayReturn()) ?? true;
  }
}

export function createSoldOutMark(options: SoldOutMarkOptions): SoldOutMark {
  return new Mark(options);
}

/**
 * What the gateways' waiting rooms have published of their draws: enough to draw again. The lot of a request is the hex SHA-256 of
 * `<seed>:<skuId>:<round>:<requestId>`; of those who entered, the `places` smallest lots are drawn.
 */
import type { RequestId } from '../domain/ids.js';

export interface LotteryDraw {
  /** Instance of the gateway whose waiting room it was. */
  readonly gateway: string;
  /** Names the draw, once in a run, and is part of every lot. */
  readonly round: string;
  readonly skuId: string;
  readonly seed: number;
  readonly places: number;
  /** Milliseconds since the epoch, by the gateway's log. */
  readonly drawnAtMs: number;
  /** Every request id that took part, each once; of one user one at most. */
  readonly entered: readonly RequestId[];
  /** Those of `entered` that were let go on. The others were told `429 QUEUE_FULL`, unless a later draw let them go on. */
  readonly drawn: readonly RequestId[];
}

/** What the waiting rooms of a run were told to do. */
export interface WaitingRoomFacts {
  readonly seed: number;
  readonly places: number;
}

/** What a transport is to the generator: it issues the arrivals of the plan as they fall due, and carries the follow-up clients' questions. */
import type { ArrivalPlan } from '../facts/arrival-plan.js';
import type { LoadSpec } from '../facts/load-spec.js';
import type { FirstAnswers } from './first-answers.js';
import type { Asker, FollowUps } from './follow-ups.js';
import type { HistoryRecorder } from './history-recorder.js';
import type { Permits } from './permits.js';

/** What every transport works with. */
export interface StormParts {
  readonly load: LoadSpec;
  readonly plan: ArrivalPlan;
  readonly recorder: HistoryRecorder;
  readonly firstAnswers: FirstAnswers;
  readonly followUps: FollowUps;
  readonly permits: Permits;
}

export interface Storm extends Asker {
  /** Makes what takes time before the start. Open connections per target. Rejects when no gateway can be reached. */
  open(): Promise<readonly number[]>;
  /**
   * Sends so many malformed requests as fast as they are answered: they are refused before any store is asked and so have no effect, but both sides' code
   * is compiled afterwards, which would otherwise be the first second of every storm. Returns how many were answered.
   */
  rehearse(requests: number): Promise<number>;
  /** Issues what is due at `nowUs` and ends what is past its deadline. */
  tick(nowUs: number): void;
  /** Called with every tick after the storm; `wanted`: a question is due and nobody was free to ask it. */
  tickFollowUps(nowUs: number, wanted: boolean): void;
  /** Arrivals whose time has come. */
  readonly offered: number;
  /** Prometheus text of the gateway that lives in this process; null: gateways serve their own. */
  gatewayMetrics(): Promise<string> | null;
  /** Every arrival has its outcome. */
  readonly finished: boolean;
  /** Issues nothing more; what is not sent stays `dropped`, what is in flight `indeterminate`. */
  abort(): void;
  close(): Promise<void>;
}

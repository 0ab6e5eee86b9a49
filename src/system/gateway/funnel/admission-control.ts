/**
 * The law of the admission limit, without I/O (paper `004` §2): how many new requests may pass until the next reading.
 *
 * budget = share × min(stock left + margin, consumer rate × longest wait × narrowing − under way, capacity − under way). The narrowing follows the age of the oldest
 * message, 1 down to 0, since a count alone does not see a consumer that has become slow. Without readings the age goes on as if nothing were finished, so a broker
 * or Redis that does not answer closes the entry. After a closure the budget doubles from period to period, so that the wave that waited outside does
 * not come in at once.
 */
import type { AdmissionTuning } from '../../../domain/funnel.js';
import type { DownstreamReading } from './downstream-gauge.js';

export type AdmissionState = 'open' | 'narrowed' | 'closed';

/** The rate is measured over the readings of this time. */
const RATE_WINDOW_MS = 1_000;
/** First batch after a closure: what the consumers manage in one period, at least one. */
const OPENING_FACTOR = 2;

interface Sample {
  readonly atMs: number;
  readonly consumed: number;
  readonly busy: boolean;
}

export class AdmissionControl {
  readonly #tuning: AdmissionTuning;
  readonly #nowMs: () => number;
  #samples: Sample[] = [];
  #budget = 0;
  #ramp = Infinity;
  #state: AdmissionState = 'closed';
  #last: { readonly reading: DownstreamReading; readonly atMs: number } | null = null;
  #takenSinceAsked = 0;
  #takenBeforeAsked = 0;

  constructor(tuning: AdmissionTuning, nowMs: () => number = () => performance.now()) {
    this.#tuning = tuning;
    this.#nowMs = nowMs;
  }

  get state(): AdmissionState {
    return this.#state;
  }

  /** Of the oldest message, by the last reading and the time since; null: no reading yet. */
  get ageMs(): number | null {
    if (this.#last === null) return null;
    return this.#last.reading.oldestAgeMs + (this.#nowMs() - this.#last.atMs);
  }

  /** Messages a second: measured while messages had to wait, since a consumer with little to do finishes no more than comes; else at least as configured. */
  get ratePerSecond(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    const configured = this.#tuning.consumerRatePerSecond;
    if (first === undefined || last === undefined || last.atMs - first.atMs < RATE_WINDOW_MS / 2) return configured;
    const measured = ((last.consumed - first.consumed) / (last.atMs - first.atMs)) * 1_000;
    return this.#samples.every(({ busy }) => busy) ? measured : Math.max(measured, configured);
  }

  /** Takes one of the budget, or says that the entry is full. */
  take(): boolean {
    if (this.#takenSinceAsked + this.#takenBeforeAsked >= this.#budget || this.#stale()) return false;
    this.#takenSinceAsked += 1;
    return true;
  }

  /** To be called when a reading is asked for: who passes from here on is not in it. */
  asking(): void {
    this.#takenBeforeAsked = this.#takenSinceAsked;
    this.#takenSinceAsked = 0;
  }

  /** The answer; null: there was none. */
  observe(reading: DownstreamReading | null): void {
    const nowMs = this.#nowMs();
    if (reading === null) {
      this.#takenSinceAsked += this.#takenBeforeAsked;
      this.#takenBeforeAsked = 0;
      if (this.#stale()) this.#close();
      return;
    }
    this.#last = { reading, atMs: nowMs };
    this.#samples = [...this.#samples.filter(({ atMs }) => nowMs - atMs <= RATE_WINDOW_MS), { atMs: nowMs, consumed: reading.consumed, busy: reading.oldestAgeMs >= this.#tuning.narrowFromAgeMs / 2 }];
    // Who passed before the question is in it, or was refused by Redis, or is still on his way there; the last are few and bounded by one reserve time-out.
    this.#takenBeforeAsked = 0;
    this.#set(reading);
  }

  #set(reading: DownstreamReading): void {
    const { stockMargin, maxWaitMs, downstreamCapacity, narrowFromAgeMs, closeAtAgeMs, share } = this.#tuning;
    const narrowing = Math.min(1, Math.max(0, (closeAtAgeMs - reading.oldestAgeMs) / (closeAtAgeMs - narrowFromAgeMs)));
    const byWait = ((this.ratePerSecond * maxWaitMs) / 1_000) * narrowing - reading.underway;
    const byCapacity = downstreamCapacity - reading.underway;
    const wanted = Math.floor(share * Math.min(reading.stockLeft + stockMargin, byWait, byCapacity));
    if (wanted <= 0) {
      this.#close();
      return;
    }
    this.#budget = Math.min(wanted, this.#ramp);
    this.#state = narrowing < 1 || wanted > this.#ramp ? 'narrowed' : 'open';
    this.#ramp = this.#ramp >= wanted ? Infinity : this.#ramp * OPENING_FACTOR;
  }

  #close(): void {
    const { consumerRatePerSecond, periodMs, share } = this.#tuning;
    this.#budget = 0;
    this.#state = 'closed';
    this.#ramp = Math.max(1, Math.floor((share * consumerRatePerSecond * periodMs) / 1_000));
  }

  /** Nothing heard for so long that a message may have passed the age by now. */
  #stale(): boolean {
    const age = this.ageMs;
    return age === null || age >= this.#tuning.closeAtAgeMs;
  }
}

/**
 * One storm from its job to its files, without the process around it:
 *
 * 1. `prepare`: expand the plan, rehearse, open the connections.
 * 2. `run`: issue every arrival as it falls due; when each has its outcome, write `history.bin` and return the account of the storm.
 * 3. `finishPayers`: clients who have an order pay, late ones too.
 * 4. `settle`: the last round of polls, once the system has settled.
 * 5. `finish`: close `history.ndjson` and the connections, and write the payment channel's books.
 */
import { pathToFileURL } from 'node:url';

import { expandArrivalPlan, type ArrivalPlan } from '../facts/arrival-plan.js';
import type { GeneratorFacts } from '../facts/history.js';
import { measureGenerator } from '../facts/load-honesty.js';
import { calibrate } from './calibrate.js';
import { writeChannelBooks } from './channel-books-file.js';
import { EdgeStorm } from './edge/edge-storm.js';
import { FirstAnswers } from './first-answers.js';
import { FollowUps } from './follow-ups.js';
import { HistoryRecorder } from './history-recorder.js';
import { HttpStorm } from './http-storm.js';
import type { InprocModule } from './inproc-port.js';
import { InprocStorm } from './inproc-storm.js';
import type { LoadJob, LoadProgress, ReadyReport } from './load-job.js';
import { monoNowUs } from './mono-clock.js';
import { Payers } from './payers.js';
import { permitsOf } from './permits.js';
import type { Storm, StormParts } from './storm.js';
import { TellingsFile } from './tellings-file.js';
import { Ticker } from './ticker.js';
import { writeHistory } from './write-history.js';

const POLLS_PER_SECOND_MAX = 500;
const FINAL_POLLS_TIMEOUT_MS = 30_000;
const REHEARSAL_REQUESTS = 4_000;
const PROGRESS_EVERY_MS = 500;
const LOOK_EVERY_MS = 20;

export interface GeneratorListener {
  progress(progress: LoadProgress): void;
  /** An error outside of any call, such as a full disk. */
  failed(error: Error): void;
}

async function openStorm(job: LoadJob, parts: StormParts): Promise<Storm> {
  if (job.load.transport === 'http') return new HttpStorm(job.targets, parts);
  if (job.load.transport === 'edge') return new EdgeStorm(job.targets, parts);
  if (job.inproc === null) throw new Error('the inproc transport needs a gateway module');
  const module = (await import(pathToFileURL(job.inproc.modulePath).href)) as InprocModule;
  return new InprocStorm(await module.openInprocGateway(job.inproc.config), parts);
}

export class Generator {
  readonly #job: LoadJob;
  readonly #listener: GeneratorListener;
  readonly #plan: ArrivalPlan;
  readonly #recorder: HistoryRecorder;
  readonly #followUps: FollowUps;
  readonly #payers: Payers | null;
  readonly #tellings: TellingsFile;
  readonly #storm: Storm;
  readonly #ticker: Ticker;
  #startUs = NaN;
  #stormEnds: (() => void) | null = null;
  #finalPolls: { unanswered: number } | null = null;

  private constructor(job: LoadJob, listener: GeneratorListener, tellings: TellingsFile, storm: Storm, parts: StormParts, payers: Payers | null) {
    this.#job = job;
    this.#listener = listener;
    this.#tellings = tellings;
    this.#storm = storm;
    this.#plan = parts.plan;
    this.#recorder = parts.recorder;
    this.#followUps = parts.followUps;
    this.#payers = payers;
    this.#ticker = new Ticker((nowUs) => {
      this.#beat(nowUs);
    });
  }

  /** Everything that takes time before the start. Rejects when no gateway can be reached or the folder cannot be written. */
  static async prepare(job: LoadJob, listener: GeneratorListener): Promise<{ generator: Generator; report: ReadyReport }> {
    const { load } = job;
    const plan = expandArrivalPlan(load);
    const recorder = new HistoryRecorder(plan.length);
    const tellings = await TellingsFile.create(job.directory);
    const payers = job.payment === null || load.payers === null ? null : new Payers(job.payment, { load, plan, tellings });
    const followUps = new FollowUps({ load, plan, tellings, pollsPerSecondMax: job.pollsPerSecondMax ?? POLLS_PER_SECOND_MAX, orders: payers });
    const permits = permitsOf(load, plan, job.permitSecret ?? '', Date.now);
    const parts: StormParts = { load, plan, recorder, followUps, permits, firstAnswers: new FirstAnswers({ load, plan, recorder, tellings, followUps, orders: payers }) };
    const calibration = job.calibrates === false ? null : await calibrate(load);
    const storm = await openStorm(job, parts);
    const [connected] = await Promise.all([storm.open(), payers?.open()]);
    const rehearsalRequests = job.rehearsalRequests ?? REHEARSAL_REQUESTS;
    const rehearsed = await storm.rehearse(rehearsalRequests);
    if (rehearsalRequests > 0 && rehearsed === 0) throw new Error('the gateways accept connections and answer nothing');
    return { generator: new Generator(job, listener, tellings, storm, parts, payers), report: { arrivals: plan.length, connected, rehearsed, calibration } };
  }

  /** `startUs`: CLOCK_MONOTONIC microseconds at which arrival 0 of a constant schedule is due. Resolves when every arrival has its outcome. */
  async run(startUs: number): Promise<GeneratorFacts> {
    this.#startUs = startUs;
    this.#recorder.schedule(startUs, this.#plan.dueUs);
    this.#ticker.start();
    const cpuBefore = process.cpuUsage();
    const progress = setInterval(() => {
      this.#listener.progress(this.progress());
      this.#tellings.flush().catch((error: unknown) => {
        this.#listener.failed(error instanceof Error ? error : new Error(String(error)));
      });
    }, PROGRESS_EVERY_MS);
    await new Promise<void>((resolve) => {
      this.#stormEnds = resolve;
      // An empty plan has nothing that could end it.
      if (this.#storm.finished) resolve();
    });
    clearInterval(progress);
    const cpu = process.cpuUsage(cpuBefore);
    this.#listener.progress(this.progress());
    const facts = measureGenerator(this.#recorder.columns, { cpuSeconds: (cpu.user + cpu.system) / 1e6, maxTickGapUs: this.#ticker.maxGapUs });
    await writeHistory(this.#job.directory, this.#recorder.columns, startUs);
    await this.#tellings.stormEnded(facts);
    return facts;
  }

  progress(): LoadProgress {
    const { issued, answered, accepted } = this.#recorder;
    const elapsedMs = Number.isNaN(this.#startUs) ? 0 : (monoNowUs() - this.#startUs) / 1000;
    return { elapsedMs, scheduled: this.#plan.length, offered: this.#storm.offered, issued, decided: answered, accepted, payersUnfinished: this.#payers?.unfinished ?? 0 };
  }

  /** Ends the storm where it is; `run` then resolves. */
  abort(): void {
    this.#storm.abort();
    this.#stormEnds?.();
  }

  /** After `run`. Resolves when nobody has anything left to do about paying, or after `timeoutMs`; with how many have. Nobody begins to pay afterwards. */
  async finishPayers(timeoutMs: number): Promise<number> {
    const deadlineUs = monoNowUs() + timeoutMs * 1000;
    // Who does not know yet that it has an order may still hear of it.
    while (this.#payers !== null && this.#payers.unfinished + this.#followUps.unfinished > 0 && monoNowUs() < deadlineUs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    const unfinished = this.#payers?.unfinished ?? 0;
    this.#payers?.stop();
    await this.#tellings.flush();
    return unfinished;
  }

  /** After `run`. Resolves when every followed request has answered once more, or the time for it is over. */
  async settle(): Promise<{ asked: number; unanswered: number; readonly gatewayMetrics: string | null }> {
    const outcome = await this.#followUps.settle(monoNowUs(), this.#job.finalPollsTimeoutMs ?? FINAL_POLLS_TIMEOUT_MS);
    this.#finalPolls = { unanswered: outcome.unanswered };
    await this.#tellings.flush();
    return { ...outcome, gatewayMetrics: await this.#storm.gatewayMetrics() };
  }

  /** Last of all. */
  async finish(): Promise<void> {
    this.#ticker.stop();
    if (this.#payers !== null) await writeChannelBooks(this.#job.directory, await this.#payers.close());
    await this.#storm.close();
    await this.#tellings.end({ finalPollsDone: this.#finalPolls !== null, finalPollsUnanswered: this.#finalPolls?.unanswered ?? 0 });
  }

  #beat(nowUs: number): void {
    // Gaps before the start are none of the storm's.
    if (nowUs < this.#startUs) this.#ticker.maxGapUs = 0;
    // The last answer may come between two ticks, so the end is looked for before and after.
    if (!this.#storm.finished) this.#storm.tick(nowUs);
    if (this.#storm.finished) this.#stormEnds?.();
    this.#storm.tickFollowUps(nowUs, this.#followUps.tick(nowUs, this.#storm));
    this.#payers?.tick(nowUs);
  }
}

/**
 * Facts of a sale that never ran, for tests of the judges: a small model of the right system decides every arrival and writes what each store would
 * hold. Used by tests only; it shares no code with the system and none with the judges.
 */
import { arrivalKindAt, expandArrivalPlan, requestIdAt, seededRandom, userIdAt, type ArrivalPlan } from '../facts/arrival-plan.js';
import type { ActivityRules, Facts, RunFacts } from '../facts/facts.js';
import { measureGenerator } from '../facts/load-honesty.js';
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../domain/reason-codes.js';
import { HTTP_STATUS_OF } from '../domain/answer.js';
import { ARRIVAL_OUTCOMES, type ArrivalOutcome, type Telling } from '../facts/history.js';
import { DEFAULT_MIX, type TrafficMix } from '../facts/load-spec.js';
import { namespaceOf } from '../domain/namespace.js';
import type { AllocatorStrategy } from '../domain/role-config.js';
import { FATES, HandWrittenStores, type Fate, type Made } from './hand-written-stores.test-support.js';
import { INVARIANTS } from './registry.js';

export interface WorldOptions {
  readonly arrivals: number;
  readonly stock: number;
  readonly allocator: AllocatorStrategy;
  readonly seed: number;
  readonly mix: Partial<TrafficMix>;
  /** Share of arrivals turned away by 429. */
  readonly limitedShare: number;
  /** Share of arrivals whose answer is lost on the way; the effect stays. */
  readonly lostAnswerShare: number;
  /** Share of messages that stand in the topic twice. */
  readonly duplicateShare: number;
  /** Share of reservations that end so, in the order of `FATES`; the rest is ordered and unpaid. */
  readonly fates: Readonly<Partial<Record<Exclude<Fate, 'ordered'>, number>>>;
  readonly rules: ActivityRules;
  /** From a reservation until its payer, its canceller or the closer acts. Short: units and users come back while the storm goes on. */
  readonly endsAfterUs: number;
}

const USUAL: WorldOptions = {
  arrivals: 40, stock: 10, allocator: 'token', seed: 1, mix: {}, limitedShare: 0, lostAnswerShare: 0, duplicateShare: 0, fates: {},
  rules: { restockOnCancel: true, rebuyAfterCancel: false }, endsAfterUs: 2_000_000,
};

/** Mono time of the first arrival and its wall time. */
const START_US = 1_000_000_000;
const START_WALL_US = 1_750_000_000_000_000;
const RATE = 100;

const outcomeNumber = (outcome: ArrivalOutcome): number => ARRIVAL_OUTCOMES.indexOf(outcome);

function runFactsOf(options: WorldOptions, endUs: number): RunFacts {
  return {
    scenario: 'hand-written',
    namespace: namespaceOf('hand'),
    load: {
      seed: options.seed, ratePerSecond: RATE, durationMs: (options.arrivals * 1000) / RATE, shape: { kind: 'constant' },
      mix: { ...DEFAULT_MIX, repeatShare: 0, ...options.mix }, transport: 'http', activityId: '7', skuId: '70', requestTimeoutMs: 1_000, connections: 10,
      pollIntervalMs: 500, pollsMax: 5, payers: null, permits: null,
    },
    stock: options.stock,
    strategies: { consumer: 'single', allocator: options.allocator },
    rules: options.rules,
    admission: { maxOldestAgeMs: 500, controlPeriodMs: 100 },
    clockSkews: [],
    failClosed: { inFlightBoundMs: 700, breakerOpensWithinMs: null },
    waitingRoom: null,
    inboxRetentionMs: null,
    clock: {
      atStart: { monoUs: START_US - 1_000_000, wallUs: START_WALL_US - 1_000_000 },
      atEnd: { monoUs: endUs, wallUs: START_WALL_US + (endUs - START_US) },
      boundUs: 2_000,
    },
    invariants: INVARIANTS.map((invariant) => invariant.name),
    serviceLevels: [
      { name: 'api-p99', bound: 100 }, { name: 'order-within-3s', bound: 0.99 }, { name: 'recovery-time', bound: 5_000 }, { name: 'drained', bound: 5_000 },
    ],
    shows: [],
  };
}

/** The columns while they are being written. */
class Told {
  readonly intendedUs: Float64Array;
  readonly sentUs: Float64Array;
  readonly answeredUs: Float64Array;
  readonly httpStatus: Uint16Array;
  readonly answerCode: Uint8Array;
  readonly outcome: Uint8Array;
  readonly reservation: Uint8Array;
  readonly tellings: Telling[] = [];
  readonly length: number;

  constructor(plan: ArrivalPlan) {
    this.length = plan.length;
    this.intendedUs = Float64Array.from(plan.dueUs, (dueUs) => START_US + dueUs);
    this.sentUs = this.intendedUs.map((intendedUs) => intendedUs + 100);
    this.answeredUs = this.sentUs.map((sentUs) => sentUs + 5_000);
    this.httpStatus = new Uint16Array(plan.length);
    this.answerCode = new Uint8Array(plan.length).fill(255);
    this.outcome = new Uint8Array(plan.length).fill(outcomeNumber('answered'));
    this.reservation = new Uint8Array(plan.length * 16);
  }

  answer(index: number, code: AnswerCode, httpStatus: number, reservationId: string | null): void {
    this.httpStatus[index] = httpStatus;
    this.answerCode[index] = ANSWER_CODES_BY_NUMBER.indexOf(code);
    if (reservationId !== null) this.reservation.set(Buffer.from(reservationId.replaceAll('-', ''), 'hex'), index * 16);
  }

  lose(index: number): void {
    this.answeredUs[index] = NaN;
    this.outcome[index] = outcomeNumber('indeterminate');
    this.httpStatus[index] = 0;
    this.answerCode[index] = 255;
    this.reservation.fill(0, index * 16, index * 16 + 16);
  }
}

/** A consistent world in which every invariant holds. */
export function handWrittenFacts(given: Partial<WorldOptions> = {}): Facts {
  const options = { ...USUAL, ...given };
  const endUs = START_US + (options.arrivals * 1_000_000) / RATE + 20_000_000;
  const run = runFactsOf(options, endUs);
  const plan = expandArrivalPlan(run.load);
  const random = seededRandom(options.seed + 77);
  const told = new Told(plan);
  const stores = new HandWrittenStores(run, START_WALL_US - START_US, endUs - 17_000_000, options.endsAfterUs);
  const made = decideArrivals(options, run, plan, random, told, stores);
  stores.advance(Infinity);
  lastPolls(made, told, stores, endUs - 5_000_000);
  const present = <T>(value: T): { readonly present: true; readonly value: T } => ({ present: true, value });
  const { tellings, ...columns } = told;
  return {
    run,
    history: present({ columns, tellings, payerTellings: stores.payerTellings, generator: measureGenerator(columns, { cpuSeconds: 1, maxTickGapUs: 1_000 }), complete: true, problems: [] }),
    redis: present(stores.redisFacts()),
    kafka: present(stores.rows.kafkaFacts()),
    postgres: present(stores.rows.postgresFacts()),
    commitLog: present({ transactions: stores.rows.transactions }),
    faults: present([]),
    settle: present({ healedUs: endUs - 18_000_000, drainedUs: endUs - 17_000_000, boundMs: 10_000, open: [], quiesced: true, quiesceProblems: [] }),
    metrics: present({}),
    lottery: present([]),
    channel: present(stores.channelBooks()),
  };
}

function fateOf(options: WorldOptions, draw: number): Fate {
  let upTo = 0;
  for (const fate of FATES) {
    if (fate === 'ordered') break;
    upTo += options.fates[fate] ?? 0;
    if (draw < upTo) return fate;
  }
  return 'ordered';
}

/** What Redis and the gateway would say to each arrival in turn. Returns what was reserved, by request id. */
function decideArrivals(options: WorldOptions, run: RunFacts, plan: ArrivalPlan, random: () => number, told: Told, stores: HandWrittenStores): Map<string, Made> {
  const made = new Map<string, Made>();
  for (let index = 0; index < plan.length; index += 1) {
    const kind = arrivalKindAt(plan, index);
    const requestId = requestIdAt(run.load, plan, index);
    const userId = userIdAt(plan, index);
    const sentUs = told.sentUs[index] ?? 0;
    stores.advance(sentUs);
    const known = made.get(requestId);
    const [limited, lost, fate, twice] = [random(), random(), random(), random()];
    const refuse = (code: AnswerCode): void => {
      told.answer(index, code, HTTP_STATUS_OF[code], null);
    };
    if (kind === 'malformed') refuse('INVALID');
    else if (limited < options.limitedShare) refuse('LIMITED');
    else if (known !== undefined && known.conflicting !== (kind === 'conflict')) refuse('IDEMPOTENCY_CONFLICT');
    else if (known !== undefined) {
      known.arrivals.push(index);
      told.answer(index, stores.stateOf(known), 200, known.reservationId);
    } else if (stores.isMarked(userId)) refuse('USER_HAS_ONE');
    else if (!stores.hasStock()) refuse('SOLD_OUT');
    else {
      const reservation = stores.reserve({
        requestId, userId, conflicting: kind === 'conflict', fate: fateOf(options, fate), twice: twice < options.duplicateShare, reservedUs: sentUs + 1_000, arrival: index,
      });
      made.set(requestId, reservation);
      told.answer(index, stores.stateOf(reservation), 202, reservation.reservationId);
    }
    if (lost < options.lostAnswerShare) told.lose(index);
  }
  return made;
}

/** After settling every client that was accepted, or does not know, asks once more. */
function lastPolls(made: ReadonlyMap<string, Made>, told: Told, stores: HandWrittenStores, atUs: number): void {
  for (const reservation of made.values()) {
    const { requestId, userId, reservationId, arrivals, orderId } = reservation;
    const code = stores.stateOf(reservation);
    told.tellings.push({
      kind: 'final-poll', arrival: arrivals[0] ?? 0, requestId, userId, askedUs: atUs, answeredUs: atUs + 2_000, httpStatus: code === 'QUEUED' ? 202 : 200, code, reservationId,
      orderId: code === 'ORDERED' ? orderId : null, location: null,
    });
  }
}

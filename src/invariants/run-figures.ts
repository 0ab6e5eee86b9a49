/** The counts and speeds that a reader of a run wants first. Pure; null where the evidence is missing. */
import { ANSWER_CODES_BY_NUMBER } from '../domain/reason-codes.js';
import type { Facts } from '../facts/facts.js';
import { ARRIVAL_OUTCOMES, type HistoryFacts } from '../facts/history.js';
import { percentileOf } from '../facts/load-honesty.js';
import type { InvariantVerdict, Latencies, RunFigures } from '../facts/verdict.js';
import { acceptancesByRequest } from './acceptances.js';
import { costFigures } from './cost-figures.js';
import { funnelFigures } from './funnel-figures.js';
import { deadLetterPlaces } from './indexes.js';
import { reservationToCommit } from './order-delays.js';
import { winnersOf } from './winners.js';

const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');
const ACCEPTING: ReadonlySet<string> = new Set(['QUEUED', 'QUEUED_PENDING_MESSAGE', 'ORDERED', 'REJECTED', 'RELEASED']);

const SOLD_OUT = ['SOLD_OUT', 'TEMP_SOLD_OUT', 'FINAL_SOLD_OUT'] as const;

export function runFigures(facts: Facts, invariants: readonly InvariantVerdict[]): RunFigures {
  const history = facts.history.present ? facts.history.value : null;
  const codes = history === null ? null : countsByCode(history);
  const topic = facts.kafka.present ? facts.kafka.value.orders : null;
  const { delays } = reservationToCommit(facts);
  const settle = facts.settle.present ? facts.settle.value : null;
  const funnel = funnelFigures(facts);
  return {
    transport: facts.run.load.transport,
    stock: facts.run.stock,
    offered: history?.generator.scheduled ?? null,
    issued: history?.generator.issued ?? null,
    decided: history?.generator.answered ?? null,
    accepted: history === null ? null : acceptancesByRequest(facts).size,
    soldOut: codes === null ? null : SOLD_OUT.reduce((sum, code) => sum + (codes[code] ?? 0), 0),
    refusedByCode: codes === null ? {} : Object.fromEntries(Object.entries(codes).filter(([code]) => !ACCEPTING.has(code))),
    orders: facts.postgres.present ? facts.postgres.value.orders.length : null,
    topicMessages: topic?.length ?? null,
    topicDuplicates: topic === null ? null : topic.length - new Set(topic.map((record) => record.messageId)).size,
    ...livesOf(facts),
    funnel,
    cost: costFigures(facts, funnel),
    latencyFromIntended: history === null ? null : latenciesOf(answerLatencies(history)),
    winnersLatency: history === null ? null : latenciesOf(Float64Array.from(winnersOf(facts), (winner) => winner.waitedUs)),
    reservationToOrder: delays.length === 0 ? null : latenciesOf(Float64Array.from(delays, (delay) => delay.delayUs)),
    recoveryMs: settle?.drainedUs == null ? null : Math.max(0, (settle.drainedUs - settle.healedUs) / 1000),
    // One lost reservation is excused by several judges: it was lost once.
    excused: invariants.reduce((most, verdict) => Math.max(most, verdict.excused), 0),
  };
}

type Lives = Pick<RunFigures, 'paid' | 'released' | 'refunds' | 'unmatchedPayments' | 'deadLetters' | 'waitingForHumans'>;

function livesOf(facts: Facts): Lives {
  if (!facts.postgres.present) return { paid: null, released: null, refunds: null, unmatchedPayments: null, deadLetters: null, waitingForHumans: null };
  const { orders, reservations, payments, unmatchedPayments, deadLetters } = facts.postgres.value;
  // The topic may hold letters that the undertaker has not read.
  const places = deadLetterPlaces(facts);
  const closed = deadLetters.filter((letter) => letter.status !== 0).length;
  return {
    paid: orders.filter((order) => order.status === 30).length,
    released: reservations.filter((row) => row.status === 40).length,
    refunds: payments.filter((payment) => payment.status === 40 || payment.status === 50).length,
    unmatchedPayments: unmatchedPayments.length,
    deadLetters: places.size,
    waitingForHumans: reservations.filter((row) => row.status === 60).length + places.size - closed,
  };
}

function countsByCode(history: HistoryFacts): Readonly<Record<string, number>> {
  const { columns } = history;
  const byNumber = new Float64Array(256);
  for (let index = 0; index < columns.length; index += 1) {
    if (columns.outcome[index] === ANSWERED) byNumber[columns.answerCode[index] ?? 255] = (byNumber[columns.answerCode[index] ?? 255] ?? 0) + 1;
  }
  const counts: Record<string, number> = {};
  for (const [number, count] of byNumber.entries()) if (count > 0) counts[ANSWER_CODES_BY_NUMBER[number] ?? 'unreadable'] = count;
  return counts;
}

/** Of every arrival, whatever became of it. */
function answerLatencies(history: HistoryFacts): Float64Array {
  const { columns } = history;
  const latencies = new Float64Array(columns.length);
  for (let index = 0; index < columns.length; index += 1) {
    const answered = columns.outcome[index] === ANSWERED;
    latencies[index] = answered ? (columns.answeredUs[index] ?? 0) - (columns.intendedUs[index] ?? 0) : Infinity;
  }
  return latencies;
}

/** Sorts in place. Null when there is nothing to measure. */
function latenciesOf(values: Float64Array): Latencies | null {
  if (values.length === 0) return null;
  values.sort();
  const came = values.indexOf(Infinity);
  const at = (share: number): number | null => {
    const value = percentileOf(values, share);
    return Number.isFinite(value) ? value : null;
  };
  return { count: values.length, never: came === -1 ? 0 : values.length - came, p50Us: at(0.5), p99Us: at(0.99), p999Us: at(0.999), maxUs: at(1) };
}

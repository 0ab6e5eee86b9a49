/** Requests with an order whose client was refused for good and never heard that it had won. */
import { ARRIVAL_KINDS } from '../facts/load-spec.js';
import { ANSWER_CODES_BY_NUMBER, type AnswerCode } from '../domain/reason-codes.js';
import type { Facts } from '../facts/facts.js';
import { ARRIVAL_OUTCOMES, type HistoryColumns } from '../facts/history.js';
import { acceptancesByRequest } from './acceptances.js';
import { arrivalsOfRoots, rootOf } from './identity.js';
import { grouped, ordersByRequest, planOf } from './indexes.js';

export interface FinalDenial {
  readonly requestId: string;
  readonly orderId: string;
  readonly code: AnswerCode;
}

const CONFLICT_KIND = ARRIVAL_KINDS.indexOf('conflict');
const ANSWERED = ARRIVAL_OUTCOMES.indexOf('answered');
const INDETERMINATE = ARRIVAL_OUTCOMES.indexOf('indeterminate');

export function deniedWithOrder(facts: Facts): readonly FinalDenial[] {
  if (!facts.history.present) return [];
  const { columns } = facts.history.value;
  const plan = planOf(facts);
  const heard = acceptancesByRequest(facts);
  const unheard = new Map<number, { readonly requestId: string; readonly orderId: string }>();
  for (const [requestId, orders] of ordersByRequest(facts)) {
    const root = rootOf(facts, requestId);
    const [order] = orders;
    if (root !== null && order !== undefined && !heard.has(root)) unheard.set(root, { requestId, orderId: order.orderId });
  }
  const denials: FinalDenial[] = [];
  for (const [root, arrivals] of grouped(arrivalsOfRoots(facts, new Set(unheard.keys())), (index) => plan.requestOf[index] ?? index)) {
    const request = unheard.get(root);
    const code = lastHeard(columns, arrivals);
    const twoPayloads = arrivals.some((index) => plan.kind[index] === CONFLICT_KIND);
    const final = code === 'SOLD_OUT' || code === 'TEMP_SOLD_OUT' || code === 'FINAL_SOLD_OUT' || code === 'USER_HAS_ONE' || (code === 'IDEMPOTENCY_CONFLICT' && !twoPayloads);
    if (final && request !== undefined) denials.push({ ...request, code });
  }
  return denials;
}

/** The last answer; null when a later request was written and never answered: then the client still has to ask. */
function lastHeard(columns: HistoryColumns, arrivals: readonly number[]): AnswerCode | null {
  let lastUs = -Infinity;
  let code: AnswerCode | null = null;
  for (const index of arrivals) {
    if (columns.outcome[index] !== ANSWERED || (columns.answeredUs[index] ?? 0) < lastUs) continue;
    lastUs = columns.answeredUs[index] ?? 0;
    code = ANSWER_CODES_BY_NUMBER[columns.answerCode[index] ?? -1] ?? null;
  }
  const open = arrivals.some((index) => columns.outcome[index] === INDETERMINATE && (columns.sentUs[index] ?? 0) > lastUs);
  return open ? null : code;
}

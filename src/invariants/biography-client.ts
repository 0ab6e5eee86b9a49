/** The client's side of a story, and the faults of its moment. */
import { arrivalKindAt } from '../facts/arrival-plan.js';
import type { Facts } from '../facts/facts.js';
import { outcomeName, reservationAt } from '../facts/history.js';
import { ANSWER_CODES_BY_NUMBER } from '../domain/reason-codes.js';
import { arrivalsOf, type Identity } from './identity.js';
import { planOf } from './indexes.js';
import type { TimedLine } from './story.js';
import { monoToWallUs } from './wall-time.js';

function milliseconds(fromUs: number, toUs: number): string {
  return `${((toUs - fromUs) / 1000).toFixed(1)} ms`;
}

export function clientLines(facts: Facts, identity: Identity): TimedLine[] {
  if (!facts.history.present) return [];
  const { columns, tellings } = facts.history.value;
  const plan = planOf(facts);
  const { clock } = facts.run;
  const lines: TimedLine[] = [];
  for (const index of arrivalsOf(facts, identity.requests)) {
    const sentUs = columns.sentUs[index] ?? NaN;
    const answeredUs = columns.answeredUs[index] ?? NaN;
    const outcome = outcomeName(columns, index);
    const what = `arrival ${String(index)} (${arrivalKindAt(plan, index)})`;
    if (outcome !== 'answered') {
      lines.push({ wallUs: monoToWallUs(clock, Number.isNaN(sentUs) ? (columns.intendedUs[index] ?? NaN) : sentUs), source: 'client', text: `${what}: ${outcome}` });
      continue;
    }
    const code = ANSWER_CODES_BY_NUMBER[columns.answerCode[index] ?? 255] ?? 'unreadable';
    const reservation = reservationAt(columns, index);
    const told = `${String(columns.httpStatus[index])} ${code}${reservation === null ? '' : `, reservation ${reservation}`}`;
    lines.push({ wallUs: monoToWallUs(clock, answeredUs), source: 'client', text: `${what}: told ${told}, ${milliseconds(sentUs, answeredUs)} after sending` });
  }
  for (const telling of tellings) {
    if (telling.kind === 'first-answer' || !identity.requests.has(telling.requestId)) continue;
    const names = [telling.reservationId === null ? '' : `, reservation ${telling.reservationId}`, telling.orderId === null ? '' : `, order ${telling.orderId}`].join('');
    lines.push({ wallUs: monoToWallUs(clock, telling.answeredUs), source: 'client', text: `${telling.kind}: told ${String(telling.httpStatus)} ${telling.code ?? 'unreadable'}${names}` });
  }
  for (const told of facts.history.value.payerTellings) {
    if (!identity.orders.has(told.orderId)) continue;
    const asked = `${told.act}${told.channelTradeNo === null ? '' : ` of trade ${told.channelTradeNo} (${String(told.channelSays)}, ${String(told.amountMinor)})`}`;
    lines.push({ wallUs: monoToWallUs(clock, told.answeredUs ?? told.askedUs), source: 'client', text: `${asked}: ${told.answeredUs === null ? 'no answer' : `told ${told.code ?? 'something unreadable'}`}` });
  }
  return lines;
}

/** Faults that were on, or struck, between the two moments, one second around. */
export function faultLines(facts: Facts, fromWallUs: number, toWallUs: number): TimedLine[] {
  if (!facts.faults.present) return [];
  const lines: TimedLine[] = [];
  for (const fault of facts.faults.value) {
    if (fault.injectedUs === null) continue;
    const from = monoToWallUs(facts.run.clock, fault.injectedUs) ?? 0;
    const to = (fault.healedUs === null ? null : monoToWallUs(facts.run.clock, fault.healedUs)) ?? Infinity;
    if (from > toWallUs + 1_000_000 || to < fromWallUs - 1_000_000) continue;
    lines.push({ wallUs: from, source: 'fault', text: `${fault.id} injected (${fault.proof}): ${fault.observed}` });
    if (Number.isFinite(to)) lines.push({ wallUs: to, source: 'fault', text: `${fault.id} ${fault.healed ? 'healed' : 'not healed'}: ${fault.healObserved}` });
  }
  return lines;
}

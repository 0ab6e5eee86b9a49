/**
 * Admission that closed and opened again, by what clients heard in the order in which they asked. Repeats of what was accepted pass every layer and are left out.
 */
import { ANSWER_CODES_BY_NUMBER } from '../../domain/reason-codes.js';
import { arrivalKindAt } from '../../facts/arrival-plan.js';
import type { Facts } from '../../facts/facts.js';
import { planOf } from '../indexes.js';
import { rememberedPerFacts } from '../remembered.js';
import type { CountedFigure } from './shown-figure.js';

const ACCEPTED: ReadonlySet<string> = new Set(['QUEUED', 'QUEUED_PENDING_MESSAGE', 'ORDERED']);

interface Turns {
  /** Longest row of new requests that all heard QUEUE_FULL. */
  readonly longestRow: number;
  /** New requests accepted after that row. */
  readonly acceptedAfter: number;
}

const turnsOf: (facts: Facts) => Turns | null = rememberedPerFacts((facts) => {
  if (!facts.history.present) return null;
  const { columns } = facts.history.value;
  const plan = planOf(facts);
  const asked: { readonly sentUs: number; readonly code: string }[] = [];
  for (let index = 0; index < columns.length; index += 1) {
    const code = ANSWER_CODES_BY_NUMBER[columns.answerCode[index] ?? 255];
    if (code !== undefined && arrivalKindAt(plan, index) === 'fresh') asked.push({ sentUs: columns.sentUs[index] ?? NaN, code });
  }
  asked.sort((left, right) => left.sentUs - right.sentUs);
  let row = 0;
  let turns: Turns = { longestRow: 0, acceptedAfter: 0 };
  for (const { code } of asked) {
    row = code === 'QUEUE_FULL' ? row + 1 : 0;
    if (row > turns.longestRow) turns = { longestRow: row, acceptedAfter: 0 };
    else if (ACCEPTED.has(code)) turns = { ...turns, acceptedAfter: turns.acceptedAfter + 1 };
  }
  return turns;
});

export const turnedAwayInARow: CountedFigure = {
  what: 'new requests one after the other that all heard QUEUE_FULL',
  count: (facts) => turnsOf(facts)?.longestRow ?? null,
};

export const letInAgain: CountedFigure = {
  what: 'new requests accepted after the longest time with none',
  count: (facts) => {
    const turns = turnsOf(facts);
    if (turns === null) return null;
    return turns.longestRow === 0 ? 0 : turns.acceptedAfter;
  },
};

/**
 * Sends the original of a dead letter again: same topic, same key, same bytes, and so the same message id. Once per letter, by its row: it is held
 * while the broker is asked and leaves OPEN only when the broker has stored the message. A crash in between repeats the message and never loses
 * it; the Inbox makes its effect single.
 */
import type { ClientBase } from 'pg';

import { REPLAY_HEADER, parseDeadLetter, type DeadLetter } from '../../domain/dead-letter.js';
import { DeadLetterStatus } from '../../domain/status-codes.js';
import type { Statements } from '../ledger/sql-loader.js';
import { originalBytes } from './dead-letter-sender.js';
import { Resolution } from './dead-letter-store.js';

export interface OriginalMessage {
  readonly topic: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

export type ReplayOutcome =
  | { readonly outcome: 'replayed' }
  /** There is none, it is not open, or another replay holds it: nothing was sent. */
  | { readonly outcome: 'not-open' }
  /** The letter does not carry the original. */
  | { readonly outcome: 'not-carried'; readonly why: string };

/** `produce` resolves when the broker has stored the message. Rejects with its error, or with PostgreSQL's; then the letter is still OPEN. */
export async function replayDeadLetter(client: ClientBase, statements: Statements, id: string, produce: (message: OriginalMessage) => Promise<void>): Promise<ReplayOutcome> {
  await client.query('BEGIN');
  try {
    const outcome = await replayLocked(client, statements, id, produce);
    await client.query('COMMIT');
    return outcome;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function replayLocked(client: ClientBase, statements: Statements, id: string, produce: (message: OriginalMessage) => Promise<void>): Promise<ReplayOutcome> {
  const { rows } = await client.query<{ letter: Buffer }>({ ...statements.lock_open_dead_letter, values: [id] });
  const [row] = rows;
  if (row === undefined) return { outcome: 'not-open' };
  const parsed = parseDeadLetter(row.letter.toString('utf8'));
  if (!parsed.ok) return { outcome: 'not-carried', why: `what was found on the dead-letter topic is no dead letter: ${parsed.problems.join('; ')}` };
  if (parsed.letter.value === null && parsed.letter.valueBytes > 0) {
    return { outcome: 'not-carried', why: `its value of ${String(parsed.letter.valueBytes)} bytes did not fit into the letter; read it at its place` };
  }
  await produce(originalOf(parsed.letter, id));
  await client.query({ ...statements.resolve_dead_letter, values: [id, DeadLetterStatus.REPLAYED, Resolution.REPLAYED] });
  return { outcome: 'replayed' };
}

function originalOf(letter: DeadLetter, id: string): OriginalMessage {
  const { originTopic, key, value, headers } = letter;
  return {
    topic: originTopic,
    key: key === null ? null : originalBytes(key),
    value: value === null ? null : originalBytes(value),
    headers: { ...headers, [REPLAY_HEADER]: id },
  };
}

/** The table of dead letters: kept once each, together with the end of the reservation that the letter was about. */
import { deadLetterId, type DeadLetter } from '../../domain/dead-letter.js';
import { OrderResult } from '../../domain/reason-codes.js';
import type { RoleConfig } from '../../domain/role-config.js';
import { DeadLetterStatus } from '../../domain/status-codes.js';
import { HANDED_OVER, closeReservation, handOverReservation } from '../ledger/end-reservation.js';
import { answers, createPool } from '../ledger/pool.js';
import { describeFailure, failureKind, sqlStateOf } from '../ledger/postgres-failure.js';
import { loadStatements } from '../ledger/sql-loader.js';
import { inTransaction, type Transaction } from '../ledger/transaction.js';
import type { RoleSurroundings } from '../role.js';
import type { Ending } from './dead-letter-ending.js';

/** How a letter was worked off. */
export const Resolution = {
  /** Its reservation was closed here, and its unit goes back. */
  RELEASED: 'RELEASED',
  /** Its reservation had ended before, with an order or without. */
  ALREADY_ENDED: 'ALREADY_ENDED',
  /** Its reservation waits for a human, and holds its unit. */
  MANUAL_REQUIRED: 'MANUAL_REQUIRED',
  /** The original was sent again. */
  REPLAYED: 'REPLAYED',
} as const;
export type Resolution = (typeof Resolution)[keyof typeof Resolution];

export type KeepOutcome =
  /** `resolution` null: kept as OPEN. */
  | { readonly outcome: 'kept'; readonly resolution: Resolution | null }
  /** This letter was kept before, and its reservation ended then. */
  | { readonly outcome: 'known' }
  /** The database will not have this end of the reservation, now or later. Nothing was written. */
  | { readonly outcome: 'refused'; readonly reason: string }
  /** Nothing is known to be written; ask again. */
  | { readonly outcome: 'unavailable'; readonly reason: string; /** PostgreSQL is there and said so itself: another transaction was in the way, or the time bound. */ readonly answered?: boolean };

export interface DeadLetterStore {
  /** Keeps the letter and ends its reservation, both or neither. `record`: the letter as it lies on its topic. */
  keep(letter: DeadLetter, record: Buffer, ending: Ending | null): Promise<KeepOutcome>;
  /** Letters that nobody has worked off. null: PostgreSQL did not answer. */
  open(): Promise<{ readonly count: number; readonly oldestSeconds: number } | null>;
  ready(): Promise<boolean>;
  close(): Promise<void>;
}

export function createDeadLetterStore(config: RoleConfig, surroundings: RoleSurroundings): DeadLetterStore {
  const statements = loadStatements();
  const pool = createPool({ address: config.addresses.postgres, database: config.namespace.database, applicationName: config.instance, max: 2 }, surroundings);
  return {
    async keep(letter, record, ending) {
      const end = await inTransaction(pool, statements, async (transaction) => {
        const outcome = await keepIn(transaction, letter, record, ending, config.namespace.eventsTopic);
        transaction.note({ resultCode: outcome.outcome === 'kept' ? (outcome.resolution ?? 'OPEN') : outcome.outcome });
        await surroundings.observer.reached('undertaker.before-commit', [idOf(letter)]);
        return outcome;
      }, { deadLetterId: deadLetterId(letter), messageId: letter.messageId, reservationId: letter.reservationId, requestId: letter.requestId, activityId: letter.activityId, skuId: letter.skuId });
      if (end.end === 'committed') {
        await surroundings.observer.reached('undertaker.after-commit', [idOf(letter)]);
        return end.value;
      }
      const reason = describeFailure(end.error);
      // An unknown COMMIT is asked again: a letter that was kept is known then.
      const kind = failureKind(end.error);
      if (end.end === 'not-committed' && kind === 'definite') return { outcome: 'refused', reason };
      return { outcome: 'unavailable', reason, answered: end.end === 'not-committed' && sqlStateOf(end.error) !== null && (kind === 'conflict' || kind === 'slow') };
    },
    async open() {
      try {
        const { rows } = await pool.query<{ open: number; oldest_seconds: number }>(statements.count_dead_letters);
        return { count: rows[0]?.open ?? 0, oldestSeconds: rows[0]?.oldest_seconds ?? 0 };
      } catch {
        return null;
      }
    },
    ready: () => answers(pool),
    close: () => pool.end(),
  };
}

/** The reservation where there is one: what the lab follows is reservations. */
function idOf(letter: DeadLetter): string {
  return letter.reservationId ?? deadLetterId(letter);
}

async function keepIn(transaction: Transaction, letter: DeadLetter, record: Buffer, ending: Ending | null, eventsTopic: string): Promise<KeepOutcome> {
  const id = deadLetterId(letter);
  const made = await transaction.run('insert_dead_letter', [
    id, letter.originTopic, letter.originPartition, letter.originOffset, letter.group, letter.cause, letter.detail, letter.attempts,
    letter.messageId, letter.reservationId, record, letter.firstSeenAtMs, letter.deadAtMs,
  ]);
  if (made.count === 0) return { outcome: 'known' };
  if (ending === null) return { outcome: 'kept', resolution: null };
  const resolution = await endReservation(transaction, ending, eventsTopic);
  await transaction.run('resolve_dead_letter', [id, DeadLetterStatus.CLOSED, resolution]);
  return { outcome: 'kept', resolution };
}

async function endReservation(transaction: Transaction, { how, reservation }: Ending, eventsTopic: string): Promise<Resolution> {
  if (how === 'hand-over') {
    const outcome = await handOverReservation(transaction, reservation, HANDED_OVER.DEAD_LETTER);
    if (outcome !== 'request-taken') return outcome === 'handed-over' ? Resolution.MANUAL_REQUIRED : Resolution.ALREADY_ENDED;
  }
  const closed = await closeReservation(transaction, eventsTopic, reservation, OrderResult.REJECTED_UNPROCESSABLE);
  return closed === 'closed' ? Resolution.RELEASED : Resolution.ALREADY_ENDED;
}
